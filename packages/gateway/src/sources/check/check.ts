import type { Deprecation, ExpressionReference, IgnoredWord, SettingReference } from '../../schema/kit.ts'
import type { Problem } from '../../schema/problem.ts'
import { checkBackendNames } from './backend-references.ts'
import { checkCallers } from './check-callers.ts'
import { checkMcpTargets } from './check-mcp.ts'
import { checkModels } from './check-models.ts'
import { checkOauth } from './check-oauth.ts'
import { checkRoutes } from './check-routes.ts'
import { checkPolicies } from './check-policies.ts'
import { type FoundReference, isTo } from './references.ts'
import { checkUnique, protocolOf, reporter } from './report.ts'
import type { CheckOnce, Report } from './report.ts'
import type { SettledParts } from './settled.ts'
import type { Spot } from './tree.ts'

/** Checks the parts of the file against one another. `warnings` do not stop a config. */
export function checkFile(
  root: Spot,
  references: readonly FoundReference[],
  settled: SettledParts | null = null,
): { problems: Problem[]; warnings: Problem[] } {
  const problems: Problem[] = []
  const warnings: Problem[] = []
  const report = reporter(problems)
  /** A check that depends on one part only, which is skipped if it found nothing before. */
  const once: CheckOnce = (part, finding, check) => {
    if (settled?.has(part.value, finding) === true) return
    const before = problems.length + warnings.length
    check()
    if (problems.length + warnings.length === before) settled?.add(part.value, finding)
  }
  const backends = root.at('backends').items
  checkUnique(backends, (backend) => backend.at('name').text, 'backend', report)
  for (const backend of backends) checkStaticPort(backend, report)
  checkTlsVersions(root.in('frontend', 'tls'), report)
  checkPorts(root.at('binds').items, report)
  const backendsByName = new Map(backends.flatMap((backend) => nameOf(backend).map((name) => [name, backend])))
  // A backend whose own name is wrong may be the one that is meant.
  if (backends.every((backend) => nameOf(backend).length > 0)) {
    checkBackendNames(references.filter(isTo('backend')), backendsByName, report)
  }
  for (const bind of root.at('binds').items) checkBind(bind, report)
  if (root.at('binds').items.length === 0) {
    const phrases = { found: 'found no `binds`', expected: 'at least one port; nothing is served without' }
    reporter(warnings)('no_effect', root.at('binds').exists ? root.at('binds') : root, phrases)
  }
  checkPolicies(root, report, reporter(warnings))
  checkOauth(root, report, once)
  checkMcpTargets(root, backendsByName, report, settled)
  checkModels(root, report)
  checkExpressions(references.filter(isTo('expression')), reporter(warnings))
  checkSettings(root, references.filter(isTo('setting')), report)
  checkDeprecated(references.filter(isTo('deprecated')), reporter(warnings))
  checkUnheeded(references.filter(isTo('unheeded')), reporter(warnings))
  const listeners = root.at('binds').items.flatMap((bind) => bind.at('listeners').items)
  checkCallers(root, listeners, reporter(warnings))
  for (const listener of listeners) {
    checkRoutes(listener, { backendsByName, report, warn: reporter(warnings), once })
  }
  return { problems, warnings }
}

function nameOf(backend: Spot): string[] {
  const { text } = backend.at('name')
  return text === null ? [] : [text]
}

/** Expressions that may fail where failing has a consequence. */
function checkExpressions(found: readonly FoundReference<ExpressionReference>[], warn: Report): void {
  for (const { spot, refers } of found) {
    const around = (levels: number): unknown => ancestor(spot, levels).value
    for (const doubt of refers.doubts(spot.value, around)) warn('may_fail', spot, doubt)
  }
}

function ancestor(spot: Spot, levels: number): Spot {
  return levels === 0 ? spot : ancestor(spot.parent, levels - 1)
}

function checkSettings(root: Spot, found: readonly FoundReference<SettingReference>[], report: Report): void {
  for (const { spot, refers } of found) {
    if (root.in(...refers.path).exists) continue
    const setting = `\`${refers.path.join('.')}\``
    const key = `\`${String(spot.path.at(-1))}\``
    report('missing_key', spot, { found: `found ${key} without ${setting}`, expected: `the setting ${setting}` })
  }
}

function checkDeprecated(found: readonly FoundReference<Deprecation>[], warn: Report): void {
  for (const { spot, refers } of found) {
    const { parent } = spot
    const name = `\`${String(parent.path.at(-1))}\``
    warn('deprecated', parent, { found: `found ${name}, which is deprecated`, expected: `\`${refers.instead}\`` })
  }
}

function checkUnheeded(found: readonly FoundReference<IgnoredWord>[], warn: Report): void {
  for (const { spot, refers } of found) {
    if (spot.text?.toLowerCase() !== refers.word.toLowerCase()) continue
    warn('no_effect', spot, { found: `found \`${refers.word}\`, which does nothing here`, expected: refers.instead })
  }
}

/** A port number may be used once with TCP and once with UDP. */
function checkPorts(binds: readonly Spot[], report: Report): void {
  for (const isUdp of [false, true]) {
    const hasTransport = (bind: Spot): boolean =>
      bind.at('listeners').items.some((listener) => (protocolOf(listener) === 'UDP') === isUdp)
    checkUnique(
      binds.filter(hasTransport).map((bind) => bind.at('port')),
      (port) => (typeof port.value === 'number' && port.value > 0 ? String(port.value) : null),
      'port',
      report,
    )
  }
}

function checkBind(bind: Spot, report: Report): void {
  const all = bind.at('listeners').items
  checkUnique(
    all,
    (listener) => listener.at('name').text ?? `listener${String(listener.path.at(-1))}`,
    'listener',
    report,
  )
  const ofUdp = all.filter((listener) => protocolOf(listener) === 'UDP')
  if (ofUdp.length > 1) {
    const found = `found ${ofUdp.length} UDP listeners on one port`
    report('conflict', bind.at('listeners'), { found, expected: 'at most one, because nothing tells them apart' })
  }
  for (const listener of all) checkListener(listener, report)
  checkTcpListeners(
    bind,
    all.filter((listener) => protocolOf(listener) !== 'UDP'),
    report,
  )
}

function checkTcpListeners(bind: Spot, listeners: readonly Spot[], report: Report): void {
  checkUnique(listeners, (listener) => listener.at('hostname').text?.toLowerCase() ?? 'every host', 'hostname', report)
  const protocols = listeners.map(protocolOf).filter((protocol) => protocol !== 'unknown')
  const isTls = (protocol: string): boolean => protocol === 'HTTPS' || protocol === 'TLS'
  if (protocols.some(isTls) && !protocols.every(isTls)) {
    const found = `found listeners of ${[...new Set(protocols)].join(' and ')} on one port`
    report('conflict', bind.at('listeners'), {
      found,
      expected: 'either TLS (HTTPS, TLS) or plaintext (HTTP, TCP) on one port',
    })
  }
  if (protocols.includes('TCP') && protocols.length > 1) {
    const found = `found ${protocols.length} listeners beside TCP`
    report('conflict', bind.at('listeners'), { found, expected: 'a TCP listener alone on its port' })
  }
  if (protocols.includes('HBONE') && protocols.length > 1) {
    const found = `found ${protocols.length} listeners beside HBONE`
    report('conflict', bind.at('listeners'), { found, expected: 'an HBONE listener alone on its port' })
  }
}

function checkListener(listener: Spot, report: Report): void {
  const protocol = protocolOf(listener)
  if (protocol === 'unknown') return
  const tls = listener.at('tls')
  if (protocol === 'HTTPS' && !tls.exists) {
    report('missing_key', listener, {
      found: 'found HTTPS without `tls`',
      expected: 'the keys `tls.cert` and `tls.key`',
    })
  }
  if (protocol !== 'HTTPS' && tls.exists) {
    const suggestion = protocol === 'HTTP' ? 'write `protocol: HTTPS`' : null
    report('conflict', tls, {
      found: `found \`tls\` on a listener of ${protocol}`,
      expected: '`tls` on HTTPS listeners only',
      suggestion,
    })
  }
  if (protocol === 'HBONE') checkHbone(listener, report)
  if (protocol === 'HTTP' || protocol === 'HTTPS' || protocol === 'HBONE') return
  const policies = listener.at('policies')
  if (policies.exists)
    report('conflict', policies, {
      found: `found \`policies\` on a listener of ${protocol}`,
      expected: 'traffic policies on HTTP and HTTPS listeners only',
    })
  const hostname = listener.at('hostname')
  if (protocol !== 'TLS' && hostname.exists) {
    report('conflict', hostname, {
      found: `found \`hostname\` on a ${protocol} listener`,
      expected: `no hostname, because ${protocol} names none`,
    })
  }
}

/** An HBONE listener only unwraps tunnels; the listener that a tunnel leads to has the routes and policies. */
function checkHbone(listener: Spot, report: Report): void {
  for (const name of ['hostname', 'policies', 'routes']) {
    const spot = listener.at(name)
    if (!spot.exists) continue
    report('conflict', spot, {
      found: `found \`${name}\` on an HBONE listener`,
      expected: `\`${name}\` on the HTTP listener that tunnels lead to`,
    })
  }
}

/** TLS has a port that everybody knows; without it nothing says which one is meant. */
function checkStaticPort(backend: Spot, report: Report): void {
  const { host, port } = { host: backend.in('static', 'host'), port: backend.in('static', 'port') }
  if (host.text === null || port.exists || backend.in('policies', 'tls').exists) return
  const known = new Set(['host', 'port', 'unixPath'])
  // The schema has reported a misspelled key already.
  if (backend.at('static').keys.some((key) => !known.has(key))) return
  report('missing_key', host, {
    found: 'found `host` without `port`',
    expected: '`port`, or `policies.tls`, which makes it 443',
  })
}

function checkTlsVersions(tls: Spot, report: Report): void {
  const [min, max] = [tls.at('minProtocolVersion'), tls.at('maxProtocolVersion')]
  if (!min.exists || !max.exists || Number(min.value) <= Number(max.value)) return
  const found = `found ${String(min.value)} as the oldest and ${String(max.value)} as the newest version`
  report('conflict', min, { found, expected: 'a version not above `maxProtocolVersion`' })
}
