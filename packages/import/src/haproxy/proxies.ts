import { SourceError } from '../core/source.ts'
import type { Statement } from '../core/statement.ts'
import type { Section } from './parse.ts'

/** A `frontend`, `backend` or `listen` section, and the lines that it inherits from a `defaults` section. */
export interface Proxy {
  readonly head: Statement
  readonly kind: string
  readonly name: string
  readonly lines: readonly Statement[]
  /** The lines of the `defaults` section that applies to this section. */
  readonly inherited: readonly Statement[]
}

/** Returns the proxies of a config in the order of the file. */
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
      head.hint('no frontend uses the backend')
      for (const line of lines) if (kind === 'backend') line.hint('no frontend uses the backend of this line')
      found.push({ head, kind, name, lines, inherited: base })
    }
  }
  return found
}

/** Returns the last line with a name, in the section or else in its `defaults`; null when both have none. */
export function lastLine({ lines, inherited }: Proxy, name: string, first?: string): Statement | null {
  const fits = (line: Statement): boolean => line.name === name && (first === undefined || line.args[0] === first)
  return lines.findLast(fits) ?? inherited.findLast(fits) ?? null
}

/** Whether the proxy forwards TCP connections instead of HTTP requests. */
export function isTcp(proxy: Proxy): boolean {
  const mode = lastLine(proxy, 'mode')
  for (const line of [...proxy.inherited, ...proxy.lines]) if (line.name === 'mode') line.carried()
  // HAProxy forwards TCP connections when no mode is set.
  return mode?.args[0] !== 'http'
}

/** Returns the tests of each acl by name. Several lines with one name are alternatives. */
export function readAcls({ lines, inherited }: Proxy): Map<string, (readonly string[])[]> {
  const acls = new Map<string, (readonly string[])[]>()
  for (const { name, args } of [...inherited, ...lines]) {
    const [key, ...test] = args
    if (name !== 'acl' || key === undefined) continue
    acls.set(key, [...(acls.get(key) ?? []), test])
  }
  return acls
}
