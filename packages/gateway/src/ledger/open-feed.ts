import { existsSync } from 'node:fs'
import type { Deadlines } from '@portico/http'
import type { Logger } from '../telemetry/log/logger.ts'
import { increase, type Registry } from '../telemetry/metrics/metrics.ts'
import { JournalControl } from './journal-control.ts'
import { lockPath } from './journal-files.ts'
import { Journal, type SentCosts } from './journal.ts'
import { type ChargedRequest, type Identities, LedgerFeed } from './ledger-feed.ts'
import type { JournalSettings, LedgerMessage } from './worker-messages.ts'

interface OpenParts {
  readonly settings: JournalSettings
  readonly worker: number
  readonly deadlines: Deadlines
  /** Budgets in a server; null without. */
  readonly sent: SentCosts | null
  readonly registry: Registry
  readonly log: Logger
  readonly post: (message: LedgerMessage) => void
}

/** Opens the feed of a worker. Without the lock of the process, entries are in memory until they are stored. */
export function openFeed<Request extends ChargedRequest>(
  identities: Identities<Request>,
  { settings, worker, deadlines, sent, registry, log, post }: OpenParts,
): LedgerFeed<Request> {
  const { folder, instance } = settings
  if (!existsSync(lockPath(folder, instance))) return new LedgerFeed(identities, { deadlines, journal: null, post })
  const control = new JournalControl()
  const missed = registry.slot('ledger_unjournaled_entries_total', [])
  let reportedAt = -Infinity
  const journal = new Journal({
    ...{ folder, name: { instance, worker }, control, sent },
    now: () => performance.now(),
    missed: () => increase(registry.values, missed, 1),
    failed({ message: error }) {
      const now = performance.now()
      if (now - reportedAt < REPORT_MS) return
      reportedAt = now
      log.error('ledger journal failed, the last entries are lost if the process is killed', { error })
    },
  })
  post({ type: 'journal', control: control.shared })
  return new LedgerFeed(identities, { deadlines, journal, post })
}

const REPORT_MS = 60_000
