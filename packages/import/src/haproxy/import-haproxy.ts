import { withoutAbsent } from '../core/config-yaml.ts'
import type { ImportedConfig, ImportResult } from '../core/import-result.ts'
import { refuseAll, sortReport } from '../core/report.ts'
import { problemsOf, SourceError, type SourceText } from '../core/source.ts'
import { behaviorOf } from '../http/behavior.ts'
import { joinPorts } from '../http/join-ports.ts'
import { printPorts } from '../http/print-ports.ts'
import { readTest } from './acls.ts'
import { type Backends, readFrontend } from './frontends.ts'
import { isProtection, noteKnownLines } from './notes.ts'
import { parseHaproxy } from './parse.ts'
import { isTcp, readProxies } from './proxies.ts'
import { whyUnknown } from './request-rules.ts'
import { readServers } from './servers.ts'
import { readUserlists } from './users.ts'

/** Imports HAProxy configs. Several files are read as one. */
export function importHaproxy(sources: readonly SourceText[]): ImportResult {
  return problemsOf(() => importSources(sources))
}

function importSources(sources: readonly SourceText[]): ImportedConfig {
  const [first] = sources
  if (first === undefined) throw new SourceError({ file: '', line: 1, column: 1 }, 'found no file')
  const sections = sources.flatMap(parseHaproxy)
  noteKnownLines(sections)
  const proxies = readProxies(sections)
  const http = proxies.filter((proxy) => {
    const isBytes = isTcp(proxy)
    if (isBytes) {
      proxy.head.notCarried('the section forwards TCP connections; configure a TCP or TLS listener: docs/tls.md')
      for (const line of proxy.lines)
        line.notCarried('the section of this line is not carried', isProtection(line.name))
    }
    return !isBytes
  })
  for (const { lines, inherited } of http) {
    for (const line of [...inherited, ...lines].filter(({ name }) => name === 'acl')) {
      const why = whyUnknown(readTest(line.args.slice(1), { isTls: false, port: 80 }))
      if (why === '') line.carried()
      else line.notCarried(why)
    }
  }
  const users = readUserlists(sections)
  const backends: Backends = new Map(
    http.filter(({ kind }) => kind !== 'frontend').map((proxy) => [proxy.name, { proxy, servers: readServers(proxy) }]),
  )
  const ports = joinPorts(
    http
      .filter(({ kind }) => kind !== 'backend')
      .flatMap((proxy) =>
        readFrontend(proxy, backends, users).map((port) => ({
          port,
          owner: proxy.name,
          lost: (first: string) =>
            proxy.head.notCarried(
              `${first} already has port ${port.port}, and a port of the gateway has one list of rules`,
              true,
            ),
        })),
      ),
  )
  if (ports.length === 0) {
    const heads = proxies.filter(({ kind }) => kind !== 'backend')
    refuseAll(first, {
      what: 'frontend',
      expected: 'frontend or listen with mode http',
      entries: heads.flatMap(({ head, lines }) =>
        [head, ...lines.filter(({ name }) => name === 'bind')].flatMap((each) => each.reportOf(isProtection)),
      ),
    })
  }
  const statements = sections.flatMap(({ head, lines }) => [head, ...lines])
  const report = sortReport(
    statements.flatMap((each) => each.reportOf(isProtection)),
    sources.map(({ name }) => name),
  )
  return { config: withoutAbsent({ binds: printPorts(ports) }), report, behavior: behaviorOf(ports) }
}
