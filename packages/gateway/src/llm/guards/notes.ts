import type { Guard, GuardNote } from './guard.ts'

/** The notes of a stream, one per guard, because a stream has many verdicts. */
export class GuardNotes {
  readonly #notes: GuardNote[]

  constructor(guards: readonly Guard[]) {
    this.#notes = guards.map(({ name }, index) => ({ index, guard: name, verdict: 'pass' }))
  }

  get all(): readonly GuardNote[] {
    return this.#notes
  }

  /** Merges a note: keeps the more severe verdict, and all findings. */
  add(next: GuardNote): void {
    const last = this.#notes[next.index]
    if (last === undefined || next.verdict === 'pass') return
    const weightier = WEIGHT[next.verdict] >= WEIGHT[last.verdict] ? next : last
    const found = [...new Set([...(last.found ?? []), ...(next.found ?? [])])]
    this.#notes[next.index] = found.length === 0 ? weightier : { ...weightier, found }
  }
}

const WEIGHT: Readonly<Record<GuardNote['verdict'], number>> = { pass: 0, mask: 1, failedOpen: 2, reject: 3, failed: 3 }
