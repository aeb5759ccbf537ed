import { closeSync, openSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/**
 * The lock of a process on its journals. The kernel releases the lock when the process dies, however it dies. It also
 * holds between containers that share a folder, where process ids mean nothing. Node has no locks on files, but SQLite
 * locks the file of a database with the locks of the operating system.
 */
export class InstanceLock {
  readonly #file: string
  readonly #database: DatabaseSync

  private constructor(file: string, database: DatabaseSync) {
    this.#file = file
    this.#database = database
  }

  /** Takes the lock; null while another process has it. Throws when the folder cannot be used. */
  static take(file: string): InstanceLock | null {
    closeSync(openSync(file, 'a', 0o600))
    const database = new DatabaseSync(file, { timeout: 0 })
    try {
      database.exec('BEGIN EXCLUSIVE')
      return new InstanceLock(file, database)
    } catch (error) {
      database.close()
      if ((error as { errcode?: unknown }).errcode === SQLITE_BUSY) return null
      throw error
    }
  }

  /** Releases the lock; `isOver` removes its file, too. */
  release(isOver: boolean): void {
    if (isOver) rmSync(this.#file, { force: true })
    this.#database.close()
  }
}

const SQLITE_BUSY = 5
