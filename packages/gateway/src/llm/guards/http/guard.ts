import type { JsonObject } from '@portico/chat'
import { compile, createEnvironment, dyn, isCelError, type Program, type Result, toJson, toText } from '@portico/cel'
import { fieldText, isHeaderValue } from '@portico/http'
import { gatewayFunctions } from '../../../expressions/functions.ts'
import { variablesByPhase } from '../../../expressions/variables.ts'
import { BlockView } from '../../../pipeline/views/header-view.ts'
import { askAny, type GuardTarget, reasonOf } from '../ask.ts'
import { type Guard, type GuardContext, type GuardPhase, PASS, type Verdict } from '../guard.ts'
import { type CustomResponseConfig, readableKinds, rejection } from '../rejection.ts'
import type { HttpCheck } from './check.ts'
import { applyMasks, type MaskSpan, readMasks } from './masks.ts'
import { type Pack, packsOf, SEPARATOR } from './packs.ts'
import type { GuardCallConfig, HttpGuardConfig } from './schema.ts'

interface GuardService {
  /** The guard's key in the config. */
  name: string
  target: GuardTarget
  response: CustomResponseConfig
  call: GuardCallConfig
}

export function createHttpGuard(config: HttpGuardConfig, target: GuardTarget, response: CustomResponseConfig): Guard {
  return createCheckingGuard([config], {}, { name: 'http', target, response, call: config })
}

/** Creates a guard from its calls. `config` has the settings that the expressions of a vendor read. */
export function createCheckingGuard(
  checks: readonly HttpCheck[],
  config: JsonObject,
  { name, target, response, call }: GuardService,
): Guard {
  const compiled = checks.map(compileCheck)
  const service = { ...target, timeoutMs: call.timeout }
  const failsOpen = call.failureMode === 'FailOpen'
  return {
    name,
    failsOpen,
    masksOnly: checks.every(({ reject }) => reject === undefined),
    async check(texts, phase, context) {
      const calls = compiled
        .filter(({ check: { phases } }) => phases?.includes(phase) !== false)
        .flatMap((check) => packsOf(texts, check.check).map((pack) => ({ check, pack })))
      if (calls.length === 0) return PASS
      if (calls.length > MAX_CALLS) return { kind: 'failed', reason: `the texts need more than ${MAX_CALLS} calls` }
      const findings = await runAll(
        calls.map(
          ({ check, pack }) =>
            () =>
              runCheck(check, service, { pack, phase, context, config }),
        ),
        // No caller waits for the verdict once the client has left.
        ({ kind }) => kind === 'reject' || (kind === 'failed' && !failsOpen) || context.rx?.isOver === true,
      )
      if (findings.length < calls.length) findings.push({ kind: 'failed', reason: 'not every call was made' })
      return judge(findings, { texts, context, response })
    },
  }
}

interface CompiledCheck {
  check: HttpCheck
  headers: readonly { name: string; value: Program }[]
  body: Program
  reject: Program | null
  mask: Program | null
  found: Program | null
}

function compileCheck(check: HttpCheck): CompiledCheck {
  const answered = (source: string | undefined) => (source === undefined ? null : programOf(source, 'guardResponse'))
  return {
    check,
    headers: check.headers.map(({ name, expression }) => ({ name, value: programOf(expression, 'guard') })),
    body: programOf(check.body, 'guard'),
    reject: answered(check.reject),
    mask: answered(check.mask),
    found: answered(check.found),
  }
}

function programOf(source: string, phase: 'guard' | 'guardResponse'): Program {
  const compiled = compile(source, environments[phase])
  // The schema has checked expressions of users, and tests those of vendors.
  if (!compiled.ok) throw new Error(`expression ${JSON.stringify(source)}: ${compiled.problems[0]?.message}`)
  return compiled.program
}

const environments = { guard: environmentOf('guard'), guardResponse: environmentOf('guardResponse') }

function environmentOf(phase: 'guard' | 'guardResponse') {
  return createEnvironment({ variables: { ...variablesByPhase[phase], config: dyn }, functions: gatewayFunctions })
}

/** The findings of one call. */
type Finding =
  | { kind: 'masks'; spans: readonly MaskSpan[]; found: readonly string[] }
  | { kind: 'reject'; found: readonly string[] }
  | { kind: 'failed'; reason: string }

interface CheckedTexts {
  pack: Pack
  phase: GuardPhase
  context: GuardContext
  config: JsonObject
}

async function runCheck(
  { check, ...programs }: CompiledCheck,
  service: GuardTarget,
  { pack, phase, context, config }: CheckedTexts,
): Promise<Finding> {
  const texts = pack.map(({ text }) => text)
  const scope = {
    ...{ phase, texts, text: texts.join(SEPARATOR), config },
    roles: pack.map(({ index }) => context.about[index]?.role ?? 'user'),
    request: { headers: new BlockView(context.requestHeaders) },
  }
  try {
    const headers = programs.headers.flatMap(({ name, value }) => headerOf(name, value, scope))
    const { method, path } = check
    const body = toJson(evaluate('body', programs.body, scope))
    const answer = await askAny(service, path, { method, headers, body, context })
    const answered = { ...scope, response: { code: answer.status, body: answer.body } }
    const found = programs.found === null ? [] : namesIn(programs.found.evaluate(answered))
    const isRejected = programs.reject === null ? false : evaluate('reject', programs.reject, answered)
    if (typeof isRejected !== 'boolean') throw new Error('`reject` is neither true nor false')
    if (isRejected) return { kind: 'reject', found }
    if (programs.mask === null) return { kind: 'masks', spans: [], found }
    const masks = toJson(evaluate('mask', programs.mask, answered))
    const spans = readMasks(masks, pack, check.offsets, context.about)
    if (spans === null) throw new Error('`mask` gives no masks for these texts')
    return { kind: 'masks', spans, found }
  } catch (error) {
    return { kind: 'failed', reason: reasonOf(error) }
  }
}

/** The message of an expression's error could contain a text, so only the error's kind is reported. */
function evaluate(field: string, program: Program, scope: object) {
  const result = program.evaluate(scope)
  if (isCelError(result)) throw new Error(`\`${field}\` failed: ${result.kind}`)
  return result
}

function headerOf(name: string, program: Program, scope: object): [string, string][] {
  const result = evaluate(`headers.${name}`, program, scope)
  if (result === null) return []
  const value = fieldText(toText(result).trim())
  if (!isHeaderValue(value)) throw new Error(`the value of header ${name} is not valid`)
  return [[name, value]]
}

/** Names are for traces, so an error in them changes no verdict. */
function namesIn(result: Result): string[] {
  const names = toJson(result)
  return Array.isArray(names) ? readableKinds(names.filter((name) => typeof name === 'string')) : []
}

/** Rejections and masks count even if another call failed, so that `FailOpen` lets nothing pass that a service found. */
function judge(
  findings: readonly Finding[],
  { texts, context, response }: { texts: readonly string[]; context: GuardContext; response: CustomResponseConfig },
): Verdict {
  const denied = findings.find(({ kind }) => kind === 'reject')
  if (denied?.kind === 'reject') return rejection(response, { found: denied.found, reason: 'the guard rejected it' })
  const masks = findings.filter((finding) => finding.kind === 'masks')
  const spans = masks.flatMap((finding) => finding.spans)
  const found = readableKinds(masks.flatMap((finding) => finding.found))
  const mask =
    spans.length === 0 ? null : ({ kind: 'mask', texts: applyMasks(texts, spans, context.about), found } as const)
  const failed = findings.find(({ kind }) => kind === 'failed')
  if (failed?.kind === 'failed') return mask === null ? failed : { ...failed, mask }
  return mask ?? PASS
}

/** Runs calls, several at a time, until all have ended or one is the last; does not wait for calls after the last. */
async function runAll<Result>(
  calls: readonly (() => Promise<Result>)[],
  isLast: (result: Result) => boolean,
): Promise<Result[]> {
  const results: Result[] = []
  const waiting = calls.values()
  const { promise: over, resolve: end } = Promise.withResolvers<undefined>()
  let isOver = false
  const work = async (): Promise<void> => {
    for (const call of waiting) {
      const result = await call()
      if (isOver) return
      results.push(result)
      isOver = isLast(result)
      if (isOver) return end(undefined)
    }
  }
  await Promise.race([over, Promise.all(Array.from({ length: Math.min(CONCURRENT, calls.length) }, work))])
  return results
}

/** The most calls for the texts of one request, and how many of them run at a time. */
const MAX_CALLS = 32
const CONCURRENT = 8
