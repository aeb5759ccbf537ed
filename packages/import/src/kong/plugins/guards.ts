import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import { cidrOf } from '../../http/addresses.ts'
import { isRegex } from '../../http/paths.ts'
import { markDefaults, textsOf } from '../entities.ts'
import type { Plugin } from '../scopes.ts'
import { closes, deniedIf, effectOf, KEEPS, type ReadPlugin } from './plugin.ts'

export function readIpRestriction(plugin: Plugin): ReadPlugin {
  const { config } = plugin
  const [allow, deny] = [config.first('allow', 'whitelist'), config.first('deny', 'blacklist')]
  const ranges = [allow, deny].map((field) => textsOf(field).map(cidrOf))
  if (ranges.some((list) => list.includes(null))) return closes(plugin, 'an address is not valid')
  for (const each of [allow, deny]) each?.carried()
  markDefaults((name) => config.get(name), {
    status: { value: 403, otherwise: 'the gateway denies requests with status 403' },
    message: { value: null, otherwise: "the gateway's denial has a fixed body" },
  })
  const [allowed = [], denied = []] = ranges.map((list) =>
    list.map((range) => `cidr(${JSON.stringify(range)}).containsIP(source.address)`),
  )
  return effectOf((state, when) => {
    const first = denied.length === 0 ? state : deniedIf(state, when, denied.join(' || '))
    return allowed.length === 0 ? first : deniedIf(first, when, `!(${allowed.join(' || ')})`)
  })
}

/**
 * Reads the plugin `bot-detection`: patterns for the `User-Agent` of clients. Kong's built-in list of bots is not
 * carried.
 */
export function readBotDetection(plugin: Plugin): ReadPlugin {
  const { config } = plugin
  const [allow, deny] = [config.first('allow', 'whitelist'), config.first('deny', 'blacklist')]
  const patterns = [allow, deny].map(textsOf)
  if (!patterns.flat().every(isRegex)) return closes(plugin, 'a pattern is not valid RE2 syntax')
  for (const each of [allow, deny]) each?.carried()
  plugin.entity.field.get('name')?.changed("Kong's built-in list of bots is not carried", true)
  const agent = 'default(request.headers.join()["user-agent"], "")'
  const [allowed = '', denied = ''] = patterns.map((list) =>
    list.map((regex) => `${agent}.matches(${JSON.stringify(regex)})`).join(' || '),
  )
  if (denied === '') return effectOf((state) => state)
  return effectOf((state, when) => deniedIf(state, when, allowed === '' ? denied : `(${denied}) && !(${allowed})`))
}

const ORIGIN = /^(\*|https?:\/\/([a-z0-9*._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?)$/i
const NAME = /^[\w!#$%&'*+.^`|~-]{1,256}$/

export function readCors({ config, entity, consumers }: Plugin): ReadPlugin {
  if (consumers !== null) {
    entity.field.notCarried('a preflight request has no consumer')
    return KEEPS
  }
  const [origins, methods, headers, exposed, credentials, age] = [
    'origins',
    'methods',
    'headers',
    'exposed_headers',
    'credentials',
    'max_age',
  ].map((name) => config.get(name))
  const list = (field: Field | null | undefined, pattern: RegExp, most: number): string[] => {
    const texts = textsOf(field ?? null)
    const good = texts.filter((text) => pattern.test(text)).slice(0, most)
    if (good.length === texts.length) field?.carried()
    else field?.changed(`the importer ignores ${texts.find((text) => !good.includes(text))?.slice(0, 60)}`)
    return good
  }
  const found = list(origins, ORIGIN, 64)
  const [allowed, some, shown] = [list(methods, NAME, 16), list(headers, NAME, 64), list(exposed, NAME, 64)]
  for (const each of [credentials, age]) each?.carried()
  markDefaults((name) => config.get(name), {
    preflight_continue: { value: false, otherwise: 'the gateway responds to preflight requests' },
    private_network: { value: false, otherwise: 'the gateway sends no header for private networks' },
    allow_origin_absent: { value: true, otherwise: 'the gateway sends no CORS headers to requests without an origin' },
  })
  const seconds = age?.number ?? 0
  const cors = withoutAbsent({
    allowOrigins: origins == null || textsOf(origins).length === 0 ? ['*'] : found,
    allowMethods: allowed.length === 0 ? ['*'] : allowed,
    allowHeaders: some.length === 0 ? ['*'] : some,
    exposeHeaders: shown.length === 0 ? undefined : shown,
    allowCredentials: credentials?.isTrue === true ? true : undefined,
    maxAge: seconds > 0 ? `${Math.min(Math.round(seconds), 31_536_000)}s` : undefined,
  })
  return effectOf((state) => ({ ...state, policies: { ...state.policies, cors } }))
}
