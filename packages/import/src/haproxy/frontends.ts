import { positionText } from '../core/source.ts'
import type { Statement } from '../core/statement.ts'
import type { Condition } from '../http/conditions.ts'
import { type Action, type Entry, rulesOfEntries, widened } from '../http/entries.ts'
import type { HttpPort } from '../http/model.ts'
import { readCondition } from './acls.ts'
import { type Bind, readBinds } from './binds.ts'
import { noteUsedLines } from './notes.ts'
import { lastLine, type Proxy, readAcls } from './proxies.ts'
import { readRequestRules, reply, type RequestRules, type Step } from './request-rules.ts'
import type { Servers } from './servers.ts'
import type { Userlists } from './users.ts'

/** The backends of the config by name, each with its servers. */
export type Backends = ReadonlyMap<string, { readonly proxy: Proxy; readonly servers: Servers }>

/** Reads the ports that a `frontend` or `listen` opens, with their rules. */
export function readFrontend(proxy: Proxy, backends: Backends, users: Userlists): HttpPort[] {
  return readBinds(proxy).map((bind) => {
    const rules = readRequestRules(proxy, bind, users)
    if (rules.isClosed) {
      for (const line of proxy.lines) line.hint('a rule before this line denies all requests')
    }
    const chosen = rules.isClosed ? [] : choices(proxy, bind, { backends, users, outer: rules })
    const closed: Action = reply(proxy.head, 403, `not imported: rules at ${positionText(proxy.head.at)}\n`)
    const rest: Entry = rules.isClosed
      ? { condition: ALWAYS, action: closed, refused: () => null }
      : { condition: ALWAYS, action: reply(proxy.head, 503), refused: () => null }
    const denials = [...rules.denials]
    const refused = ({ line, denial }: Step, why: string): null => {
      if (denial === undefined) return refuse(line, why)
      line.changed('the gateway checks this rule before the other rules, and denies with status 403')
      denials.push(denial)
      return null
    }
    const steps = rules.isClosed
      ? []
      : rules.steps.map((step) => ({ ...step, refused: (why: string) => refused(step, why) }))
    const found = rulesOfEntries([...steps, ...chosen, rest])
    return {
      ...{ port: bind.port, address: bind.address, certificates: bind.certificates, rules: found },
      policies: denials.length === 0 ? {} : { authorization: { rules: denials.map((deny) => ({ deny })) } },
    }
  })
}

const ALWAYS = { kind: 'always', value: true } as const

function refuse(line: Statement, why: string): null {
  line.notCarried(`${why}; matching requests continue with the next rule`, true)
  return null
}

interface Surroundings {
  readonly backends: Backends
  readonly users: Userlists
  readonly outer: RequestRules
}

/** Returns the entries for `use_backend`, for `default_backend`, and for the servers of a `listen`. */
function choices(proxy: Proxy, bind: Bind, { backends, users, outer }: Surroundings): Entry[] {
  const acls = readAcls(proxy)
  const found: Entry[] = []
  const add = (line: Statement, name: string, words: readonly string[]): void => {
    const condition = readCondition(words, acls, bind)
    const target = backends.get(name)
    if (target === undefined) {
      line.notCarried(
        /%/.test(name)
          ? 'the name of the backend contains samples; matching requests get 501'
          : `found no HTTP backend named ${name.slice(0, 60)}; matching requests get 501`,
      )
      const action = reply(line, 501, `not imported: ${line.name} at ${positionText(line.at)}\n`)
      const wide = widened(condition) ?? condition
      found.push({ condition: wide, action, refused: () => null })
      return
    }
    target.proxy.head.carried()
    if (target.proxy !== proxy) noteUsedLines(target.proxy.lines)
    line.carried()
    const refused = (why: string) => {
      const wide = widened(condition)
      line.notCarried(
        `${why}; ${wide === null ? 'matching requests continue with the next rule' : 'requests that may match get 501'}`,
        true,
      )
      return wide === null
        ? null
        : { condition: wide, action: reply(line, 501, `not imported: use_backend at ${positionText(line.at)}\n`) }
    }
    const inner = target.proxy === proxy ? null : readRequestRules(target.proxy, bind, users)
    for (const step of inner?.steps ?? []) {
      const both: Condition = { kind: 'all', of: [condition, step.condition] }
      // When routes cannot express a denial, all requests that it may deny are denied.
      const wide = step.denial === undefined ? null : (widened(both) ?? condition)
      found.push({
        ...{ condition: both, action: step.action },
        refused: (why) => {
          step.line.notCarried(
            `${why}; ${wide === null ? 'matching requests continue with the next rule' : 'requests that it may deny get 403'}`,
            true,
          )
          return wide === null ? null : { condition: wide, action: step.action }
        },
      })
    }
    found.push({ condition, action: actionOf(line, name, target.servers, { outer, inner }), refused })
  }
  for (const line of proxy.lines.filter((each) => each.name === 'use_backend')) {
    const [name = '', ...words] = line.args
    add(line, name, words)
  }
  const standard = lastLine(proxy, 'default_backend')
  if (standard !== null) add(standard, standard.args[0] ?? '', [])
  else if ((backends.get(proxy.name)?.servers.backends.length ?? 0) > 0) add(proxy.head, proxy.name, [])
  return found
}

function actionOf(
  line: Statement,
  name: string,
  { backends, addresses, policies }: Servers,
  { outer, inner }: { outer: RequestRules; inner: RequestRules | null },
): Action {
  const base = { name, at: line.at, source: line.text }
  if (inner?.isClosed === true) return { ...reply(line, 403, `not imported: rules of backend ${name}\n`), ...base }
  if (backends.length === 0) return { ...reply(line, 503), ...base }
  const merged = mergePolicies(outer.policies, inner?.policies ?? {})
  const denials = inner?.denials ?? []
  return {
    ...base,
    backends,
    policies: {
      ...merged,
      ...(denials.length > 0 && { authorization: { rules: denials.map((deny) => ({ deny })) } }),
      ...('urlRewrite' in merged ? withoutHost(policies) : policies),
    },
    outcome: { kind: 'proxy', addresses, pathFor: inner?.pathFor ?? ((path) => path) },
  }
}

/** Leaves out `hostRewrite`, because a `urlRewrite` of the request rules already sets the `Host`. */
function withoutHost(policies: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(policies).filter(([name]) => name !== 'hostRewrite'))
}

/**
 * Joins the policies of a frontend and a backend. Their header changes are joined; of other policies, the backend's
 * policy is kept.
 */
function mergePolicies(
  outer: Readonly<Record<string, unknown>>,
  inner: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const join = (one: unknown, other: unknown): unknown => {
    if (Array.isArray(one) && Array.isArray(other)) return [...(one as unknown[]), ...(other as unknown[])].slice(0, 16)
    if (isRecord(one) && isRecord(other)) {
      return Object.fromEntries(
        [...new Set([...Object.keys(one), ...Object.keys(other)])].map((key) => [
          key,
          key in one && key in other ? join(one[key], other[key]) : (one[key] ?? other[key]),
        ]),
      )
    }
    return other ?? one
  }
  return Object.fromEntries(
    [...new Set([...Object.keys(outer), ...Object.keys(inner)])].map((key) => [
      key,
      key === 'transformation' || key === 'headerModifiers' ? join(outer[key], inner[key]) : (inner[key] ?? outer[key]),
    ]),
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
