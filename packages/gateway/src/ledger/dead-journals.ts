import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readEntryFile } from './entry-file.ts'
import { readLines, type SettledLine } from './entry-lines.ts'
import { InstanceLock } from './instance-lock.ts'
import { journalKey, journalOf, lockOf, lockPath, MOST_JOURNAL_BYTES } from './journal-files.ts'

/** A file of a journal whose worker has ended. */
export interface DeadJournal {
  readonly file: string
  /** The name of the journal in the file of budgets. */
  readonly key: string
  readonly settled: readonly SettledLine[]
}

/** The journals of a process that has ended; the lock keeps other processes away from them. */
interface DeadInstance {
  readonly lock: InstanceLock
  readonly journals: readonly DeadJournal[]
}

interface DeadJournals {
  readonly instances: readonly DeadInstance[]
  /** Whether the folder has journals of other processes that live. */
  readonly hasLiving: boolean
}

/** Returns the journals in a folder whose processes have ended. `report` is called with each file that cannot be read. */
export function claimDeadJournals(
  folder: string,
  own: string,
  report: (file: string, error: unknown) => void,
): DeadJournals {
  const filesByInstance = new Map<string, string[]>()
  for (const name of readdirSync(folder)) {
    const instance = journalOf(name)?.instance ?? lockOf(name)
    if (instance === null || instance === own) continue
    const files = filesByInstance.get(instance) ?? []
    filesByInstance.set(instance, files)
    if (journalOf(name) !== null) files.push(name)
  }
  const instances: DeadInstance[] = []
  let hasLiving = false
  for (const [instance, files] of filesByInstance) {
    try {
      const lock = InstanceLock.take(lockPath(folder, instance))
      if (lock === null) hasLiving = true
      else instances.push({ lock, journals: files.flatMap((name) => readJournal(join(folder, name), report)) })
    } catch (error) {
      report(lockPath(folder, instance), error)
    }
  }
  return { instances, hasLiving }
}

/** Returns the journal in a file; an empty list for a file that cannot be read, which stays where it is. */
export function readJournal(file: string, report: (file: string, error: unknown) => void): DeadJournal[] {
  const name = journalOf(file.slice(file.lastIndexOf('/') + 1))
  if (name === null || lstatSync(file, { throwIfNoEntry: false }) === undefined) return []
  try {
    const { settled } = readLines(readEntryFile(file, MOST_JOURNAL_BYTES))
    return [{ file, key: journalKey(name), settled }]
  } catch (error) {
    report(file, error)
    return []
  }
}

/** Removes a journal whose entries are stored. */
export function removeJournal({ file }: DeadJournal): void {
  rmSync(file, { force: true })
}
