import { commented } from '../../core/config-yaml.ts'
import { positionText } from '../../core/source.ts'
import type { Field } from '../../core/yaml-field.ts'
import type { HttpRule } from '../../http/model.ts'
import { lost, scalar, type Scope } from '../values/convert.ts'
import { whyInvalidConfig } from '../values/validity.ts'
import { type FindSharedPolicies, type ReadListener, readListener } from './listeners.ts'
import { rulesOf } from './rules.ts'

/** A bind of the Portico config: a port with its listeners. */
export interface ReadBind {
  readonly printed: object
  readonly port: number
  /** The rules that generated tests check; null for a port with TLS, which tests do not cover. */
  readonly rules: readonly HttpRule[] | null
  readonly listeners: readonly ReadListener[]
}

/** Reads the binds. A bind whose port is not opened is left out. */
export function readBinds(list: readonly Field[], scope: Scope, inherited: FindSharedPolicies): readonly ReadBind[] {
  const found: ReadBind[] = []
  for (const field of list) {
    const bind = readBind(field, scope, inherited)
    if (bind === null) continue
    if (found.some(({ port }) => port === bind.port)) field.notCarried('an earlier bind has this port', true)
    else found.push(bind)
  }
  return found
}

/** Reads a bind; returns null when its port is not opened. */
function readBind(field: Field, scope: Scope, inherited: FindSharedPolicies): ReadBind | null {
  const port = field.get('port')
  const value = port === null ? undefined : scalar(port, scope)
  const number = Number(scope.env.sampleOf(value))
  if (value === undefined || !Number.isInteger(number) || number > 65_535) {
    lost(port ?? field, 'expected a port')
    return null
  }
  const tunnel = field.get('tunnelProtocol')
  const mode = field.get('mode')
  if ((tunnel?.text ?? 'direct') !== 'direct' || (mode?.text ?? 'standard') !== 'standard') {
    for (const each of [tunnel, mode])
      each?.notCarried('the port is not opened: docs/policies/frontend-proxy-protocol.md', true)
    field.get('listeners')?.notCarried('the port is not opened')
    return null
  }
  tunnel?.carried('the value is the default')
  mode?.carried('the value is the default')
  const list = field.get('listeners')?.items ?? []
  const listeners = list.map((each, index) =>
    readListener(each, index, scope, inherited(number, each.get('name')?.text ?? `listener${index}`)),
  )
  if (list.length === 0) return lost(field, 'the bind has no listener') ?? null
  if (listeners.includes(null)) {
    field.get('listeners')?.notCarried('one of the listeners cannot be imported, so the port is not opened')
    return null
  }
  const found = listeners as ReadListener[]
  const isUnique = (values: readonly unknown[]): boolean => new Set(values).size === values.length
  if (!isUnique(found.map(({ hostname }) => hostname)) || !isUnique(found.map(({ name }) => name))) {
    field.get('listeners')?.notCarried('two listeners have the same name or hostname, so the port is not opened', true)
    return null
  }
  const printed = { port: value, listeners: found.map((each) => each.printed) }
  const why = whyInvalidConfig({ binds: [printed] }, scope, 2)
  if (why !== null) {
    field.notCarried(`${why}; the port is not opened`, true)
    return null
  }
  const isPlain = found.every(({ isTls }) => !isTls)
  return {
    ...{ port: number, listeners: found, rules: isPlain ? rulesOf(found) : null },
    printed: commented(printed, positionText(field.at)),
  }
}
