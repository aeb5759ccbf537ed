import { explain } from '../explain/explain.ts'
import type { SourceLocation } from '../findings/explanation.ts'
import type { Ir } from '../ir/resources.ts'
import type { Path } from '../schema/problem.ts'
import type { Outcome } from '../simulate/outcome.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import { compareDecisions, type Flip } from './compare.ts'
import { compareMessages } from './compare-messages.ts'
import { type Decision, decisionWords, recordedDecision, simulatedDecision } from './decision.ts'
import { type DecidedRecord, Groups } from './groups.ts'
import { mentions } from './mentions.ts'
import { type Replay, portOf, replayOf } from './replayed-request.ts'
import { Replayer } from './replayer.ts'
import type { BacktestReport, FlipGroup } from './report.ts'
import { StandIns } from './stand-ins.ts'
import { unaffectedBy } from './unaffected.ts'
import { unknownCause } from './unknown-cause.ts'

/** One of the two configs that a back-test compares, and which the back-test may change. */
export interface BacktestConfig {
  readonly ir: Ir
  /** The addresses of Kubernetes Services, by the key of their backends. */
  readonly endpoints?: Readonly<Record<string, readonly string[]>> | undefined
  /** Returns the source location of a part of the config; absent when the config has no text. */
  readonly locate?: ((part: object, path: Path) => SourceLocation | null) | undefined
}

interface BacktestInput {
  /** In any order. */
  readonly records: readonly RequestRecord[]
  /** The config that decided the records; null when it is not known. */
  readonly before: BacktestConfig | null
  readonly after: BacktestConfig
  /** The longest time for the whole back-test, in milliseconds. */
  readonly limitMs?: number
}

/** Decides recorded requests with another config, in the order in which they came. */
export async function backtest({ records, before, after, limitMs = Infinity }: BacktestInput): Promise<BacktestReport> {
  const startedAt = performance.now()
  const inOrder = records.toSorted((a, b) => a.at - b.at)
  const [from = null, until = null] = [inOrder[0]?.at, inOrder.at(-1)?.at]
  const run = await BacktestRun.start({ before, after }, from ?? 0)
  const groups = new Groups()
  let decided = 0
  for (const record of inOrder) {
    if (performance.now() - startedAt > limitMs) break
    groups.add(await run.decide(record))
    decided++
  }
  const flips: FlipGroup[] = []
  for (const { group, decided: example } of groups.flips) {
    const isLate = performance.now() - startedAt > limitMs
    flips.push({ ...group, decidedAt: isLate ? null : await run.locate(group, example) })
  }
  const { same, flipped, unknown, counts, unknowns } = groups
  return {
    ...{ records: decided, from, until, same, flipped, unknown, counts, flips, unknowns },
    remarks: remarksOn(before, after),
    isCut: decided < inOrder.length,
    milliseconds: Math.round(performance.now() - startedAt),
  }
}

function remarksOn(before: BacktestConfig | null, { ir }: BacktestConfig): string[] {
  const hasLimits = ir.policies.some(({ traffic }) => traffic?.rateLimit !== undefined || traffic?.budget !== undefined)
  return [
    ...(before === null
      ? [
          'without the config of the records, changes of headers, paths and prices are not compared, and requests with credentials are unknown',
        ]
      : []),
    ...(hasLimits ? ['limits and budgets count from the first record: earlier requests may have used them up'] : []),
  ]
}

interface RunParts {
  readonly after: BacktestConfig
  readonly simulations: { readonly before: Replayer | null; readonly after: Replayer }
  readonly standIns: StandIns
  readonly isUnaffected: (record: RequestRecord) => boolean
}

class BacktestRun {
  readonly #parts: RunParts
  readonly #readsBody
  readonly #isRandom
  readonly #ports: ReadonlySet<number>
  readonly #backendsByRoute: ReadonlyMap<string, ReadonlySet<string>>

  private constructor(parts: RunParts) {
    this.#parts = parts
    const { ir } = parts.after
    this.#readsBody = mentions(ir, /"promptGuard"|request\.body|llmRequest|llm\.prompt/)
    this.#isRandom = mentions(ir, /\brandom\(/)
    this.#ports = new Set(ir.binds.map(({ port }) => port))
    const nameByKey = new Map(ir.backends.map(({ key, name }) => [key, name]))
    const namesOf = ({ backends }: Ir['routes'][number]): string[] =>
      backends.filter(({ weight }) => weight > 0).flatMap(({ backend }) => nameByKey.get(backend) ?? [])
    this.#backendsByRoute = new Map(ir.routes.map((route) => [route.key, new Set(namesOf(route))]))
  }

  static async start(
    { before, after }: { before: BacktestConfig | null; after: BacktestConfig },
    clock: number,
  ): Promise<BacktestRun> {
    const isUnaffected = before === null ? () => false : unaffectedBy(before.ir, after.ir)
    const standIns = new StandIns(before?.ir ?? null, after.ir)
    const simulations = {
      before: before === null ? null : await Replayer.start(before, clock),
      after: await Replayer.start(after, clock),
    }
    return new BacktestRun({ after, simulations, standIns, isUnaffected })
  }

  async decide(record: RequestRecord): Promise<DecidedRecord> {
    const recorded = recordedDecision(record)
    const before = decisionWords(recorded)
    if (this.#parts.isUnaffected(record)) return { record, before, after: before, route: null, result: [] }
    const unknown = (result: string): DecidedRecord => ({ record, before, after: 'unknown', route: null, result })
    if (recorded.verdict === 'lost') return unknown('the record has no decision of the config')
    const replay = replayOf(record, this.#parts.standIns.of(record))
    if (typeof replay === 'string') return unknown(replay)
    const port = portOf(record)
    if (port === null && this.#ports.size > 1) return unknown('the port is not recorded')
    if (port !== null && !this.#ports.has(port)) {
      const cause = `port ${port} is closed`
      const result: Flip[] = recorded.verdict === 'passed' ? [{ kind: 'newly-denied', cause }] : []
      return { record, before, after: cause, route: null, result }
    }
    return this.#replay(record, recorded, replay)
  }

  async #replay(record: RequestRecord, recorded: Decision, replay: Replay): Promise<DecidedRecord> {
    const { before, after } = this.#parts.simulations
    // Both simulations receive the request, even one whose decision is unknown, because each counts it in its rate limits.
    const [old, now] = await Promise.all([before?.send(record, replay) ?? null, after.send(record, replay)])
    const decision = now.request === null ? null : simulatedDecision(now.request)
    const told = {
      record,
      before: decisionWords(recorded),
      after: decision === null ? 'unknown' : decisionWords(decision),
      route: now.request?.route?.key ?? null,
    }
    const cause = this.#unknownCause(now, replay) ?? this.#differenceToRecord(recorded, old, replay)
    if (cause !== null || decision === null) return { ...told, result: cause ?? 'no decision' }
    if (
      before === null &&
      recorded.verdict === 'limited' &&
      decision.verdict === 'passed' &&
      now.request?.rateLimit != null
    ) {
      return { ...told, result: 'the counters of limits before the first record are unknown' }
    }
    const possible = this.#backendsByRoute.get(now.request?.route?.key ?? '')
    const isSameEndpoint = record.endpoint !== null && record.endpoint === now.request?.endpoint
    const isOldKnown = old?.request != null && unknownCause(old, replay.isBodyMissing) === null
    // The cost of the old simulation replaces the recorded cost, because a record counts more tokens than either
    // simulation.
    const known = isOldKnown ? { ...recorded, model: simulatedDecision(old.request).model } : withoutCost(recorded)
    const flips = compareDecisions(known, decision, (backend) => isSameEndpoint || possible?.has(backend) === true)
    const isComparable = isOldKnown && isSameBackend(old, now)
    return { ...told, result: isComparable ? [...flips, ...compareMessages(old, now)] : flips }
  }

  #unknownCause(now: Outcome, { isBodyMissing }: Replay): string | null {
    const cause = unknownCause(now, isBodyMissing)
    if (cause !== null || now.request === null) return cause
    if (isBodyMissing && now.request.llm !== null && this.#readsBody(now.request)) {
      return 'the text of a model call is not recorded'
    }
    return this.#isRandom(now.request) ? 'an expression depends on chance' : null
  }

  /**
   * Returns why the config of the records decides a request otherwise than recorded; null when the decisions are equal,
   * or the simulated one is unknown.
   */
  #differenceToRecord(recorded: Decision, old: Outcome | null, { isBodyMissing }: Replay): string | null {
    if (old?.request == null || unknownCause(old, isBodyMissing) !== null) return null
    const again = simulatedDecision(old.request)
    const isSame = again.verdict === recorded.verdict && again.route === recorded.route
    if (isSame && (again.verdict === 'passed' || again.policy === recorded.policy)) return null
    if (recorded.verdict === 'limited' && again.verdict === 'passed') {
      return 'the counters of limits before the first record are unknown'
    }
    return 'the given config of the records decides otherwise than recorded'
  }

  /**
   * Returns the location of the config part that decides the example of a group of flips; null when there is no
   * location.
   */
  async locate(
    { kind }: Pick<FlipGroup, 'kind'>,
    { record, route: decidingRoute }: DecidedRecord,
  ): Promise<SourceLocation | null> {
    const { after } = this.#parts
    if (after.locate === undefined) return null
    const isDenied = kind === 'newly-denied' || kind === 'denied-differently'
    const denial = isDenied ? await this.#denial(record) : null
    if (denial?.place != null) return denial.place
    const key = denial === null ? decidingRoute : denial.route
    const route = after.ir.routes.find((each) => each.key === key)
    return route === undefined ? null : after.locate(route, [])
  }

  /** Returns the location of the part that denies a request and the key of its route, from a simulation with all details. */
  async #denial(record: RequestRecord): Promise<{ place: SourceLocation | null; route: string | null }> {
    const { after, standIns } = this.#parts
    const replay = replayOf(record, standIns.of(record))
    if (after.locate === undefined || typeof replay === 'string') return { place: null, route: null }
    const { record: made, request } = await (await Replayer.start(after, record.at, true)).send(record, replay)
    const config = { isKnown: true, ir: after.ir, locate: after.locate, live: 1, isEarlier: false }
    const decidedBy = made === null ? null : explain(made, config).decidedBy
    return { place: decidedBy?.place ?? null, route: request?.route?.key ?? null }
  }
}

/** Returns the decision with an undefined cost, so that costs are not compared. */
function withoutCost({ model, ...decision }: Decision): Decision {
  return { ...decision, model: model === null ? null : { ...model, cost: undefined } }
}

/** Whether both configs sent the request to the same backend; with several backends, the random choice may differ. */
function isSameBackend({ request: old }: Outcome, { request: now }: Outcome): boolean {
  const isOnly = old?.route?.backends.length === 1 && now?.route?.backends.length === 1
  return isOnly || old?.endpoint === now?.endpoint
}
