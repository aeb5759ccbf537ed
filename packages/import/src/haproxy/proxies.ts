import { SourceError } from '../core/source.ts'
import type { Statement } from '../core/statement.ts'
import type { Section } from './parse.ts'

/** A `frontend`, `backend` or `listen` with the lines of its defaults before its own. */
export interface Proxy {
  readonly head: Statement
  readonly kind: string
  readonly name: string
  readonly lines: readonly Statement[]
  /** The lines that the defaults give. */
  readonly inherited: readonly Statement[]
}

/** The proxies of a config, in their order. */
export function readProxies(sections: readonly Section[]): Proxy[] {
  const named = new Map<string, readonly Statement[]>()
  let current: readonly Statement[] = []
  const found: Proxy[] = []
  for (const { head, kind, name, lines } of sections) {
    const from = head.args.indexOf('from')
    const base = from === -1 ? current : named.get(head.args[from + 1] ?? '')
    if (kind === 'defaults') {
      current = from === -1 ? lines : [...(base ?? []), ...lines]
      if (name !== '' && name !== 'from') named.set(name, current)
      head.carried()
    } else if (['frontend', 'backend', 'listen'].includes(kind)) {
      if (name === '') throw new SourceError(head.at, `found a ${kind} without a name`)
      if (base === undefined) throw new SourceError(head.at, `found no defaults named ${head.args[from + 1] ?? ''}`)
      if (kind !== 'backend') head.carried()
      head.hint('no frontend uses it')
      for (const line of lines) if (kind === 'backend') line.hint('no frontend uses its section')
      found.push({ head, kind, name, lines, inherited: base })
    }
  }
  return found
}

/** The last line of the name, with those of the defaults; null without. */
export function lastLine({ lines, inherited }: Proxy, name: string, first?: string): Statement | null {
  const fits = (line: Statement): boolean => line.name === name && (first === undefined || line.args[0] === first)
  return lines.findLast(fits) ?? inherited.findLast(fits) ?? null
}

/** Whether the proxy forwards bytes instead of requests. */
export function isTcp(proxy: Proxy): boolean {
  const mode = lastLine(proxy, 'mode')
  mode?.carried()
  // Without a mode, HAProxy forwards bytes.
  return mode?.args[0] !== 'http'
}

/** The tests of each acl; several lines of a name are alternatives. */
export function readAcls({ lines, inherited }: Proxy): Map<string, (readonly string[])[]> {
  const acls = new Map<string, (readonly string[])[]>()
  for (const { name, args } of [...inherited, ...lines]) {
    const [key, ...test] = args
    if (name !== 'acl' || key === undefined) continue
    acls.set(key, [...(acls.get(key) ?? []), test])
  }
  return acls
}
