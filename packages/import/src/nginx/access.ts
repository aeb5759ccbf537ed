import type { Directive, Scope } from './directive.ts'
import { literalOf } from './text.ts'

/** Policies that limit access. `isClosed` is set when a limit cannot be expressed: the location must not be open then. */
export interface Access {
  readonly policies: Readonly<Record<string, unknown>>
  readonly isClosed: boolean
  /** Whether every request is denied by the source itself. */
  readonly isDenied: boolean
}

/** Reads what protects a location. */
export function readAccess(scope: Scope, http: Scope): Access {
  const policies: Record<string, unknown> = {}
  let isClosed = false
  const close = (directive: Directive, why: string): void => {
    directive.notCarried(`${why}; requests to the location get 403 until you configure a replacement`, true)
    isClosed = true
  }
  const rules = scope.nearest(({ name }) => name === 'allow' || name === 'deny')
  const isDenied =
    rules.length > 0 && rules.every(({ name }) => name === 'deny') && rules.some(({ args }) => args[0] === 'all')
  const authorization = rulesOf(rules)
  if (isDenied) for (const rule of rules) rule.carried()
  else if (authorization === undefined)
    for (const rule of rules) close(rule, 'this order of allow and deny has no counterpart')
  else {
    for (const rule of rules) rule.carried()
    if (authorization !== null) policies['authorization'] = { rules: authorization }
  }
  const methods = limitedMethods(scope, close)
  if (methods !== null) policies['authorization'] = { rules: [...(authorization ?? []), methods] }
  const realm = scope.one('auth_basic')
  const users = scope.one('auth_basic_user_file')
  if (realm !== null && realm.args[0] !== 'off') {
    const file = users?.args[0] === undefined ? null : literalOf(users.args[0])
    if (users === null || file === null || literalOf(realm.args[0] ?? '') === null)
      close(realm, 'the realm or the name of the user file contains variables')
    else {
      realm.carried()
      users.carried('the gateway does not accept plain passwords and crypt(3) hashes such as $1$')
      policies['basicAuthentication'] = { realm: realm.args[0], secretRef: { file } }
    }
  } else realm?.carried()
  const request = scope.one('auth_request')
  if (request !== null && request.args[0] !== 'off') close(request, 'configure an extAuth policy instead')
  for (const name of ['satisfy', 'auth_jwt', 'valid_referers', 'secure_link']) {
    const directive = scope.one(name)
    if (directive !== null) close(directive, 'the directive has no counterpart in the gateway')
  }
  const limits = limitsOf(scope, http)
  if (limits.length > 0) policies['rateLimit'] = { local: limits }
  return { policies, isClosed, isDenied }
}

/** Returns an authorization rule for a `limit_except` that denies all other methods; null when there is none. */
function limitedMethods(scope: Scope, close: (directive: Directive, why: string) => void): object | null {
  const limit = scope.here('limit_except')
  if (limit === null) return null
  const [only, ...others] = limit.block ?? []
  const methods = limit.args.flatMap((name) => (name.toUpperCase() === 'GET' ? ['GET', 'HEAD'] : [name.toUpperCase()]))
  const isDeny = only?.name === 'deny' && only.args[0] === 'all' && others.length === 0
  if (!isDeny || methods.length === 0 || methods.some((name) => !/^[A-Z]+$/.test(name))) {
    close(limit, 'limit_except allows certain clients other methods, which has no counterpart')
    return null
  }
  for (const each of [limit, only]) each.carried()
  return { require: `request.method in ${JSON.stringify(methods)}` }
}

/** Joins the access checks of a location with those of the named location to which it passes its requests. */
export function joinAccess(first: Access, second: Access): Access {
  const [one, other] = [first.policies, second.policies]
  const rules = [one, other].flatMap((policies) => rulesIn(policies['authorization']))
  const passwords = [one, other]
    .flatMap((policies) => policies['basicAuthentication'] ?? [])
    .map((each) => JSON.stringify(each))
  const { authorization: _rules, ...kept } = { ...other, ...one }
  const unique = rules.filter((rule, index) => rules.findIndex((each) => isSame(each, rule)) === index)
  return {
    policies: { ...kept, ...(unique.length > 0 && { authorization: { rules: unique } }) },
    isClosed: first.isClosed || second.isClosed || new Set(passwords).size > 1,
    isDenied: first.isDenied || second.isDenied,
  }
}

function rulesIn(authorization: unknown): readonly object[] {
  return (authorization as { rules: readonly object[] } | undefined)?.rules ?? []
}

function isSame(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Allowed addresses and `deny all`, or denied addresses alone; null without rules, undefined for others. */
function rulesOf(rules: readonly Directive[]): object[] | null | undefined {
  if (rules.length === 0) return null
  const last = rules.at(-1)
  const before = rules.slice(0, -1)
  const isAll = last?.args[0] === 'all'
  const listed = isAll ? before : rules
  const conditions = listed.map(({ args }) => addressCondition(args[0] ?? ''))
  const names = new Set(listed.map(({ name }) => name))
  if (conditions.includes(null) || names.size > 1) return undefined
  const any = conditions.join(' || ')
  if (isAll && last.name === 'deny' && names.has('allow')) return [{ require: any }]
  if ((!isAll || last.name === 'allow') && names.has('deny')) return [{ deny: any }]
  return !isAll || last.name === 'allow' ? null : undefined
}

function addressCondition(text: string): string | null {
  const found = /^([0-9a-fA-F:.]+)(\/\d{1,3})?$/.exec(text)
  if (found === null || !/[.:]/.test(text)) return null
  const length = text.includes(':') ? '/128' : '/32'
  return `cidr("${found[1]}${found[2] ?? length}").containsIP(source.address)`
}

/** `limit_req` of a zone by client address. */
function limitsOf(scope: Scope, http: Scope): object[] {
  return scope.all('limit_req').flatMap((directive) => {
    const options = new Map(directive.args.map((arg) => arg.split('=', 2) as [string, string | undefined]))
    const zone = http.own.find(
      ({ name, args }) =>
        name === 'limit_req_zone' && args.some((arg) => arg.startsWith(`zone=${options.get('zone') ?? ''}:`)),
    )
    const [key] = zone?.args ?? []
    const rate = /^rate=(\d+)r\/([sm])$/.exec(zone?.args.find((arg) => arg.startsWith('rate=')) ?? '')
    if (zone === undefined || rate === null || !['$binary_remote_addr', '$remote_addr'].includes(key ?? '')) {
      directive.notCarried('the zone does not count by client address; configure a rateLimit policy', true)
      zone?.notCarried('the zone does not count by client address', true)
      return []
    }
    zone.carried()
    const isLate = !options.has('nodelay') && options.has('burst')
    directive.changed(
      `the gateway denies requests with status 429${isLate ? ', and no request waits' : ''}; each time window refills the whole budget at once`,
    )
    const burst = Number(options.get('burst') ?? 0)
    return [
      {
        ...{ requests: Number(rate[1]), unit: rate[2] === 's' ? 'Seconds' : 'Minutes' },
        ...(Number.isInteger(burst) && burst > 0 && { burst }),
        key: 'source.address',
      },
    ]
  })
}
