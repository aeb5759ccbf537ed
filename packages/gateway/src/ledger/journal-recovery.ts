import type { RedisSettlement, Settlement } from '../stores/budgets/settlement.ts'
import type { Logger } from '../telemetry/log/logger.ts'
import { claimDeadJournals, type DeadJournal, readJournal, removeJournal } from './dead-journals.ts'
import type { SettledLine } from './entry-lines.ts'
import { InstanceLock } from './instance-lock.ts'
import type { JournalControl } from './journal-control.ts'
import { type JournalHalf, journalPath, lockPath } from './journal-files.ts'
import type { JournalSettings } from './worker-messages.ts'

interface RecoveryParts {
  readonly settings: JournalSettings
  readonly log: Logger
  /** Makes the writer store the entries of a file, and call `stored` then. */
  store(file: string): void
  /** Settles calls in the server of budgets, unless they are settled; null without such a server. */
  settle: ((calls: readonly RedisSettlement[]) => Promise<void>) | null
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** A journal whose worker has ended, on its way to the store and to the budgets. */
interface RecoveredJournal {
  readonly journal: DeadJournal
  isStored: boolean
  isSettled: boolean
  /** Whether the file of budgets has the costs of the journal. */
  readonly isSaved: () => boolean
}

/** Brings what journals of ended workers have to the store and to the budgets, and removes their files then. */
export class JournalRecovery {
  readonly #parts: RecoveryParts
  readonly #pending = new Map<string, RecoveredJournal>()
  /** The locks of dead processes by the files that are left of them. */
  readonly #locks = new Map<InstanceLock, Set<string>>()
  #own: InstanceLock | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(parts: RecoveryParts) {
    this.#parts = parts
  }

  /** Takes the lock of this process; without it, workers write no journals. */
  lock(): void {
    const { folder, instance } = this.#parts.settings
    try {
      this.#own = InstanceLock.take(lockPath(folder, instance))
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error)
      this.#parts.log.error('ledger has no journal, a killed process loses its last entries', { error: cause })
    }
  }

  /** Returns the journals of dead processes. They are removed once `recover` has stored them. */
  claim(): readonly DeadJournal[] {
    const { folder, instance } = this.#parts.settings
    try {
      const { instances, hasLiving } = claimDeadJournals(folder, instance, (file, error) =>
        this.#unreadable(file, error),
      )
      for (const { lock, journals } of instances) this.#locks.set(lock, new Set(journals.map(({ file }) => file)))
      // The other process may die later than this one has started.
      if (hasLiving) this.#timer ??= setInterval(() => this.#lookAgain(), LOOK_MS).unref()
      return instances.flatMap(({ journals }) => journals)
    } catch (error) {
      this.#unreadable(folder, error)
      return []
    }
  }

  /** Stores and settles what journals have; `isSaved` says whether the file of budgets has their costs. */
  recover(journals: readonly DeadJournal[], isSaved: () => boolean): void {
    for (const journal of journals) {
      const recovered = { journal, isStored: false, isSettled: true, isSaved }
      this.#pending.set(journal.file, recovered)
      const calls = this.#callsOf(journal.settled)
      if (calls.length > 0) {
        recovered.isSettled = false
        void this.#parts.settle?.(calls).then(
          () => {
            recovered.isSettled = true
            this.tidy()
          },
          // The file stays for the next start.
          (error: unknown) => this.#unreadable(journal.file, error),
        )
      }
      this.#parts.store(journal.file)
    }
    this.tidy()
  }

  /** Recovers the journal of a worker of this process. Its costs are in shared memory, which outlives workers. */
  workerEnded(worker: number, control: JournalControl): void {
    const { folder, instance } = this.#parts.settings
    control.leave()
    const files = HALVES.map((half) => journalPath(folder, { instance, worker }, half))
    const journals = files.flatMap((file) => readJournal(file, (...problem) => this.#unreadable(...problem)))
    this.recover(journals, () => control.saved >= control.settled)
  }

  /** Called when another writer has begun. */
  storeAgain(): void {
    for (const [file, { isStored }] of this.#pending) if (!isStored) this.#parts.store(file)
  }

  /** Called when the store has all entries of a file. */
  stored(file: string): void {
    const recovered = this.#pending.get(file)
    if (recovered !== undefined) recovered.isStored = true
    this.tidy()
  }

  /** Removes the files whose entries are stored and whose costs are settled. */
  tidy(): void {
    for (const [file, { journal, isStored, isSettled, isSaved }] of this.#pending) {
      if (!isStored || !isSettled || !isSaved()) continue
      removeJournal(journal)
      this.#pending.delete(file)
      for (const files of this.#locks.values()) files.delete(file)
    }
    for (const [lock, files] of this.#locks) {
      if (files.size > 0) continue
      this.#locks.delete(lock)
      lock.release(true)
    }
  }

  /** Releases the locks. Files that are left are recovered by the next process. */
  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.tidy()
    for (const lock of this.#locks.keys()) lock.release(false)
    this.#own?.release(this.#pending.size === 0)
    this.#own = null
  }

  /** Costs in shared memory went with their process; the file of budgets of this process has nothing to do with it. */
  #lookAgain(): void {
    this.recover(this.claim(), () => true)
  }

  #callsOf(settled: readonly SettledLine[]): RedisSettlement[] {
    const { now, settle } = this.#parts
    if (settle === null) return []
    const recent = settled.filter(({ endedAt }) => now() - endedAt < REMEMBERED_MS)
    return recent.flatMap(({ settlements }) => settlements.filter(isRedis))
  }

  #unreadable(file: string, error: unknown): void {
    const cause = error instanceof Error ? error.message : String(error)
    this.#parts.log.error('ledger journal cannot be recovered', { file, error: cause })
  }
}

function isRedis(settlement: Settlement): settlement is RedisSettlement {
  return settlement.kind === 'redis'
}

const HALVES: readonly JournalHalf[] = ['a', 'b']
const LOOK_MS = 60_000
/** Redis remembers settled requests for 20 minutes; older ones might be counted twice. */
const REMEMBERED_MS = 19 * 60_000
