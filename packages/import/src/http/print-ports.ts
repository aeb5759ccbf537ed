import { commented, Template, Variable, withoutAbsent } from '../core/config-yaml.ts'
import { positionText } from '../core/source.ts'
import { coversHost, type Certificate, type HttpPort, type HttpRule, variablesOfHost } from './model.ts'
import { orderedRoutes } from './order.ts'
import { reachableRules } from './reachable.ts'

/** Prints the `binds` of the config. */
export function printPorts(ports: readonly HttpPort[]): object[] {
  return ports.map(({ port, address, certificates, policies, rules }) =>
    withoutAbsent({
      port,
      address: address ?? undefined,
      listeners: listenersOf(certificates, port).map(({ certificate, name }) =>
        withoutAbsent({
          name,
          ...(certificate === null ? {} : tlsOf(certificate)),
          policies: Object.keys(policies).length === 0 ? undefined : policies,
          routes: printRoutes(rulesOfListener(rules, certificate?.hostname ?? null, certificates ?? [])),
        }),
      ),
    }),
  )
}

function listenersOf(
  certificates: readonly Certificate[] | null,
  port: number,
): { name: string; certificate: Certificate | null }[] {
  if (certificates === null) return [{ name: `http-${port}`, certificate: null }]
  return certificates.map((certificate) => ({
    name:
      certificate.hostname === null
        ? `https-${port}`
        : certificate.hostname.replace('*', 'any').replaceAll(/[${}]/g, '').slice(0, 63),
    certificate,
  }))
}

function tlsOf({ hostname, cert, key, root, clientCertificates }: Certificate): object {
  return withoutAbsent({
    protocol: 'HTTPS',
    hostname: hostname === null ? undefined : printHost(hostname),
    tls: withoutAbsent({ cert, key, root: root ?? undefined, clientCertificates }),
  })
}

/** Prints a hostname, which may contain environment variables (`${NAME}`). */
function printHost(host: string): string | Variable | Template {
  const [name] = variablesOfHost(host)
  if (name === undefined) return host
  return host === `\${${name}}` ? new Variable(name) : new Template(host)
}

/** Returns the rules for the requests of a listener, without rules that no request reaches. */
function rulesOfListener(
  rules: readonly HttpRule[],
  hostname: string | null,
  certificates: readonly Certificate[],
): HttpRule[] {
  const names = certificates.flatMap((each) => each.hostname ?? [])
  // A rule for all hosts is one for the hosts of the listener.
  const whole = hostname === null ? [] : [hostname]
  const own = rules.flatMap((rule) => restrict(rule, hostname, names) ?? [])
  return reachableRules(own.map((rule) => (rule.hosts.length === 0 ? { ...rule, hosts: whole } : rule))).map((rule) =>
    rule.hosts === whole ? { ...rule, hosts: [] } : rule,
  )
}

/**
 * Limits a rule to the hosts of a listener, without those of more specific listeners (`names`); returns null when the rule
 * takes none of its hosts.
 */
function restrict(rule: HttpRule, hostname: string | null, names: readonly string[]): HttpRule | null {
  if (rule.hosts.length === 0) return rule
  const hosts = rule.hosts.filter(
    (host) =>
      (hostname === null || coversHost(hostname, host)) &&
      !names.some((name) => name !== hostname && isWithin(name, hostname) && coversHost(name, host)),
  )
  if (hosts.length > 0) return { ...rule, hosts }
  return hostname !== null && rule.hosts.some((host) => coversHost(host, hostname)) ? { ...rule, hosts: [] } : null
}

/** Whether the hosts of a name are a part of those of a listener. */
function isWithin(name: string, hostname: string | null): boolean {
  return hostname === null || coversHost(hostname, name)
}

function printRoutes(rules: readonly HttpRule[]): object[] {
  const names = new Set<string>()
  return orderedRoutes(rules).map(({ rule, hostnames, matches }) =>
    commented(
      withoutAbsent({
        name: uniqueRouteName(rule.name, names),
        hostnames: hostnames.length === 0 ? undefined : hostnames.map(printHost),
        matches,
        policies: Object.keys(rule.policies).length === 0 ? undefined : rule.policies,
        backends: rule.backends.length === 0 ? undefined : rule.backends,
      }),
      `${positionText(rule.at)} ${rule.source}`.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, 200),
    ),
  )
}

/** Returns a valid route name that no other route has. */
function uniqueRouteName(text: string, names: Set<string>): string {
  const slug = text
    .replaceAll(/[^A-Za-z0-9.-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, 50)
    .replaceAll(/[-.]+$/g, '')
  const base = slug === '' ? 'route' : slug
  let name = base
  for (let number = 2; names.has(name); number++) name = `${base}-${number}`
  names.add(name)
  return name
}
