import type { Directive, Scope } from './directive.ts'
import { literalOf } from './text.ts'

/** Policies that limit access. `isClosed` is set when a limit cannot be expressed: the location must not be open then. */
interface Access {
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
    directive.notCarried(`${why}; requests to the location get 403 until you replace it`, true)
    isClosed = true
  }
  const lists = scope.own.some(({ name }) => name === 'allow' || name === 'deny') ? scope.own : nearestLists(scope)
  const rules = lists.filter(({ name }) => name === 'allow' || name === 'deny')
  const isDenied =
    rules.length > 0 && rules.every(({ name }) => name === 'deny') && rules.some(({ args }) => args[0] === 'all')
  const authorization = rulesOf(rules)
  if (isDenied) for (const rule of rules) rule.carried()
  else if (authorization === undefined)
    for (const rule of rules) close(rule, 'the order of allow and deny is not known')
  else if (authorization !== null) {
    for (const rule of rules) rule.carried()
    policies['authorization'] = { rules: authorization }
  }
  const realm = scope.one('auth_basic')
  const users = scope.one('auth_basic_user_file')
  if (realm !== null && realm.args[0] !== 'off') {
    const file = users?.args[0] === undefined ? null : literalOf(users.args[0])
    if (users === null || file === null || literalOf(realm.args[0] ?? '') === null)
      close(realm, 'the realm or the file of users has variables')
    else {
      realm.carried()
      users.carried('hashes of crypt(3) such as $1$ and plain passwords are not accepted')
      policies['basicAuthentication'] = { realm: realm.args[0], secretRef: { file } }
    }
  } else realm?.carried()
  const request = scope.one('auth_request')
  if (request !== null && request.args[0] !== 'off') close(request, 'extAuth replaces it')
  for (const name of ['satisfy', 'auth_jwt', 'valid_referers', 'secure_link', 'internal']) {
    const directive = scope.one(name)
    if (directive !== null) close(directive, 'it has no counterpart here')
  }
  const limits = limitsOf(scope, http)
  if (limits.length > 0) policies['rateLimit'] = { local: limits }
  return { policies, isClosed, isDenied }
}

function nearestLists(scope: Scope): readonly Directive[] {
  const [allow, deny] = [scope.all('allow'), scope.all('deny')]
  return [...allow, ...deny].toSorted((a, b) => a.at.line - b.at.line || a.at.column - b.at.column)
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
      directive.notCarried('its zone is not by client address; write a rateLimit policy', true)
      zone?.notCarried('not by client address', true)
      return []
    }
    zone.carried()
    const isLate = !options.has('nodelay') && options.has('burst')
    directive.changed(
      `denied requests get 429${isLate ? ', and none waits' : ''}; a window of time refills the budget at once`,
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
