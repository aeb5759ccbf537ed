import { cidrOf } from '../http/addresses.ts'
import type { Condition } from '../http/conditions.ts'
import { type Entry, rulesOfEntries } from '../http/entries.ts'
import { coversHost, type Certificate, type HttpPort, type HttpRule, variablesOfHost } from '../http/model.ts'
import type { Statement } from '../core/statement.ts'
import { readAddress, type ServerPorts, type SiteAddress } from './addresses.ts'
import { type Context, readBlock } from './directives.ts'
import { pathMatcher } from './matchers.ts'
import { statusReply } from '../chain/replies.ts'
import { entriesOf } from '../chain/routes.ts'
import { FIRST_STATE } from '../chain/state.ts'
import { withoutExcess } from '../chain/without-excess.ts'

/** A site block, and its addresses. */
export interface Site {
  readonly statement: Statement
  readonly addresses: readonly SiteAddress[]
  readonly certificate: { readonly cert: string; readonly key: string } | null
  /** The file with the certificate authorities of client certificates; null when clients need no certificate. */
  readonly root: string | null
  readonly bind: string | null
}

export function readSite(statement: Statement, ports: ServerPorts): Site {
  const words = [statement.name, ...statement.args].flatMap((word) => word.split(',')).filter((word) => word !== '')
  const block = statement.block ?? []
  const tls = block.findLast(({ name }) => name === 'tls')
  const [cert, key] = tls?.args ?? []
  const certificate = cert !== undefined && key !== undefined ? { cert, key } : null
  if (certificate !== null) tls?.carried('copy the files to these paths, or change the paths')
  else tls?.notCarried('the gateway obtains no certificates; configure certificate files: docs/tls.md')
  statement.carried()
  const addresses = words.flatMap((word) => {
    const found = readAddress(word, ports, tls !== undefined && tls.args[0] !== 'off')
    if (typeof found !== 'string') return [found]
    statement.notCarried(`${word.slice(0, 60)}: ${found}`, true)
    return []
  })
  if (addresses.some(({ host }) => host?.startsWith('*.') === true)) {
    statement.changed('in the gateway, the wildcard also matches names with several labels in place of the star')
  }
  const variables = addresses.flatMap(({ host }) => variablesOfHost(host ?? ''))
  if (variables.length > 0)
    statement.changed(`${[...new Set(variables)].join(', ')} must form a hostname, without a port or a scheme`)
  if (certificate === null && addresses.some(({ isTls }) => isTls)) {
    statement.changed('the gateway obtains no certificates; put certificate files at the paths in the new config')
  }
  return {
    statement,
    addresses,
    certificate,
    root: tls === undefined ? null : clientAuthorities(tls),
    bind: readBind(block),
  }
}

/**
 * Returns the file of certificate authorities when `client_auth` requires a client certificate that they have signed.
 */
function clientAuthorities(tls: Statement): string | null {
  const auth = tls.block?.findLast(({ name }) => name === 'client_auth')
  if (auth === undefined) return null
  const value = (name: string) => auth.block?.findLast((line) => line.name === name)
  const [mode, file] = [value('mode'), value('trusted_ca_cert_file') ?? value('trust_pool')]
  const path = file?.name === 'trusted_ca_cert_file' ? file.args[0] : undefined
  if ((mode === undefined || mode.args[0] === 'require_and_verify') && path !== undefined) {
    for (const each of [auth, mode, file]) each?.carried()
    return path
  }
  auth.changed('the gateway refuses all client certificates until you configure a file with their authorities', true)
  return 'missing-root.pem'
}

function readBind(block: readonly Statement[]): string | null {
  const bind = block.findLast(({ name }) => name === 'bind')
  if (bind === undefined) return null
  const [address = '', ...others] = bind.args
  if (others.length === 0 && cidrOf(address) !== null) {
    bind.carried()
    return /^(0\.0\.0\.0|::)$/.test(address) ? null : address
  }
  if (others.length === 0 && address === 'localhost') {
    bind.carried()
    return '127.0.0.1'
  }
  bind.changed('the gateway listens on all addresses, because a port has one address', true)
  return null
}

/** Builds a port with the routes of all sites on the port. */
export function readPort(port: number, sites: readonly Site[], context: Omit<Context, 'facts'>): HttpPort {
  const own = (site: Site) => site.addresses.filter((each) => each.port === port)
  const isTls = sites.some((site) => own(site).some((each) => each.isTls))
  for (const site of sites) {
    if (isTls && !own(site).every((each) => each.isTls))
      site.statement.changed(`the site uses TLS on port ${port}, because another site on the port does`)
  }
  const binds = new Set(sites.map(({ bind }) => bind))
  const [address = null] = binds
  if (binds.size > 1) {
    for (const { statement } of sites)
      statement.changed(`the gateway listens on all addresses of port ${port}, because a port has one address`, true)
  }
  const ranked = sites
    .flatMap((site) => {
      const byPath = Map.groupBy(own(site), ({ host, path }) => `${hostRank(host)} ${path}`)
      return [...byPath.values()].map((addresses) => ({ site, addresses }))
    })
    .toSorted((one, other) => rankOf(other.addresses) - rankOf(one.addresses))
  // A site takes all requests for its hosts, so its rules do not depend on the rules of other sites.
  const rules = ranked.flatMap(({ site, addresses }) =>
    rulesOfEntries(siteEntries(site, addresses, { ...context, facts: { isTls } })),
  )
  const [first] = sites
  const others: Entry[] =
    isTls || first === undefined
      ? []
      : [
          {
            condition: { kind: 'always', value: true },
            action: { ...statusReply(first.statement, 200, FIRST_STATE), name: 'other-hosts' },
            refused: () => null,
          },
        ]
  return {
    ...{ port, address: binds.size > 1 ? null : address, policies: {}, rules: [...rules, ...rulesOfEntries(others)] },
    certificates: isTls ? certificatesOf(sites, port) : null,
  }
}

function hostRank(host: string | null): number {
  return host === null ? 0 : host.startsWith('*.') ? 1 : 2
}

/** Returns the rank of a site: sites with exact hostnames come first, then sites with longer wildcards. */
function rankOf([first]: readonly SiteAddress[]): number {
  const { host, path } = first ?? { host: null, path: '' }
  return hostRank(host) * 100_000 + (host?.startsWith('*.') === true ? host.length * 300 : 0) + path.length
}

function siteEntries(site: Site, addresses: readonly SiteAddress[], context: Context): Entry[] {
  const { statement } = site
  const isAnyHost = addresses.some(({ host }) => host === null)
  const conditions: Condition[] = [
    ...(isAnyHost
      ? []
      : [{ kind: 'any' as const, of: addresses.map(({ host }) => ({ kind: 'host' as const, host: host ?? '' })) }]),
    ...(addresses[0]?.path === '' ? [] : [pathMatcher(addresses[0]?.path ?? '').condition]),
  ]
  const rest: Entry = {
    condition: { kind: 'always', value: true },
    action: statusReply(statement, 200, FIRST_STATE),
    refused: () => null,
  }
  const found = withoutExcess(statement, { kind: 'always', value: true }, () =>
    entriesOf(readBlock(statement.block ?? [], context, new Map()), FIRST_STATE, conditions, (state) => [
      { ...rest, action: { ...statusReply(statement, 200, state), name: `rest-${statement.at.line}` } },
    ]),
  )
  return found.map((entry) => ({
    ...entry,
    condition: { kind: 'all', of: [...conditions, entry.condition] },
    refused: (why) => {
      statement.notCarried(`${why} (route ${entry.action.name}); requests of the site get 501`, true)
      return { condition: { kind: 'all', of: conditions }, action: statusReply(statement, 501, FIRST_STATE) }
    },
  }))
}

/** Returns a certificate for each hostname on the port. */
function certificatesOf(sites: readonly Site[], port: number): Certificate[] {
  const found = new Map<string | null, Certificate>()
  for (const { addresses, certificate, root } of sites) {
    for (const { host } of addresses.filter((each) => each.port === port)) {
      const name = host === null ? 'default' : host.replace('*', 'any').replaceAll(/[${}]/g, '')
      const files = certificate ?? { cert: `certificates/${name}.pem`, key: `certificates/${name}.key` }
      if (!found.has(host)) found.set(host, { hostname: host, ...files, root })
    }
  }
  return [...found.values()]
}

/** Returns the rules of the HTTP port that redirect requests to sites with certificates. */
export function redirectRules(sites: readonly Site[], ports: ServerPorts): HttpRule[] {
  return sites.flatMap(({ statement, addresses }) =>
    addresses
      .filter(({ isTls, path }) => isTls && path === '')
      .map(({ host, port }): HttpRule => {
        const authority = port === 443 ? {} : { authority: { port } }
        return {
          ...{
            name: `redirect-${statement.at.line}`,
            at: statement.at,
            source: statement.text,
            matches: [],
            backends: [],
          },
          hosts: host === null ? [] : [host],
          policies: { requestRedirect: { scheme: 'https', ...authority, status: 308 } },
          outcome: { kind: 'status', status: 308 },
        }
      })
      .filter(
        ({ hosts }) =>
          !sites.some((site) => site.addresses.some((each) => each.port === ports.http && isHostOf(each, hosts))),
      ),
  )
}

function isHostOf({ host }: SiteAddress, [first]: readonly string[]): boolean {
  return host === (first ?? null) || (host !== null && first !== undefined && coversHost(host, first) && host === first)
}
