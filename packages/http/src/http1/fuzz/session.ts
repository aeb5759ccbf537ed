import { type Case, caseOf } from './cases.ts'
import { disagreement } from './compare.ts'
import type { Observation } from './observation.ts'
import { observeOurs, observeRuntime } from './observe-request.ts'
import { observeOurClient, observeRuntimeClient } from './observe-response.ts'

export interface Verdict {
  case: Case
  ours: Observation
  theirs: Observation
  /** Why the two parsers disagree, or null. */
  problem: string | null
}

export interface Summary {
  cases: number
  /** Messages that both parsers read to the end with the same result. */
  agreed: number
  refusedByBoth: number
  /** Number of inputs that only our parser rejects, by its error code. */
  refusedByOurs: Map<string, number>
  disagreements: Verdict[]
}

/** Runs `count` cases, with seeds from `seed` on. */
export async function runSession(seed: number, count: number, progress: (done: number) => void): Promise<Summary> {
  const summary: Summary = { cases: 0, agreed: 0, refusedByBoth: 0, refusedByOurs: new Map(), disagreements: [] }
  for (let done = 0; done < count; done += BATCH) {
    const size = Math.min(BATCH, count - done)
    const verdicts = await judge(Array.from({ length: size }, (_, i) => caseOf(seed + done + i)))
    for (const verdict of verdicts) add(summary, verdict)
    progress(done + size)
  }
  return summary
}

/** Feeds each case to both parsers. */
export async function judge(cases: readonly Case[]): Promise<Verdict[]> {
  const running = cases.map((each) => ({ each, ...start(each) }))
  // Everything happens in memory, so both parsers are done within two turns.
  await nextTurn()
  await nextTurn()
  return running.map(({ each, ours, theirs }) => {
    const verdict = {
      case: each,
      ours: ours.observation,
      theirs: theirs.observation,
      problem: disagreement(ours.observation, theirs.observation),
    }
    ours.stop()
    theirs.stop()
    return verdict
  })
}

function start(each: Case): { ours: ReturnType<typeof observeOurs>; theirs: ReturnType<typeof observeRuntime> } {
  return each.direction === 'request'
    ? { ours: observeOurs(each.pieces), theirs: observeRuntime(each.pieces) }
    : { ours: observeOurClient(each), theirs: observeRuntimeClient(each) }
}

function add(summary: Summary, verdict: Verdict): void {
  const { ours, theirs, problem } = verdict
  summary.cases++
  summary.agreed += ours.messages.filter(({ complete }) => complete).length
  if (problem !== null) summary.disagreements.push(verdict)
  if (ours.refused === null) return
  if (theirs.refused !== null) summary.refusedByBoth++
  else summary.refusedByOurs.set(ours.refused, (summary.refusedByOurs.get(ours.refused) ?? 0) + 1)
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

const BATCH = 50
