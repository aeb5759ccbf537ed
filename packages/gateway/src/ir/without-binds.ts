import type { Ir } from './resources.ts'

/** A config without some of its ports, and without all that is reached by them alone. */
export function withoutBinds(ir: Ir, keys: ReadonlySet<string>): Ir {
  if (keys.size === 0) return ir
  const listeners = ir.listeners.filter(({ bind }) => !keys.has(bind))
  const left = new Set(listeners.map(({ key }) => key))
  return {
    ...ir,
    binds: ir.binds.filter(({ key }) => !keys.has(key)),
    listeners,
    routes: ir.routes.filter(({ listener }) => left.has(listener)),
  }
}
