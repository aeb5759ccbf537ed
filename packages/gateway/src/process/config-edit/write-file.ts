import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * Replaces a file as a whole: whoever reads it sees the old text or the new one, after a crash too. Links are followed,
 * owner and mode stay. Throws where that cannot be done, and leaves everything as it was.
 */
export function replaceFile(path: string, text: string): void {
  const file = fs.realpathSync(path)
  const { mode, uid, gid } = fs.statSync(file)
  const temporary = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.tmp`)
  const handle = fs.openSync(temporary, 'wx', 0o600)
  try {
    try {
      fs.writeFileSync(handle, text)
      const made = fs.fstatSync(handle)
      if (made.uid !== uid || made.gid !== gid) fs.fchownSync(handle, uid, gid)
      fs.fchmodSync(handle, mode & 0o7777)
      fs.fsyncSync(handle)
    } finally {
      fs.closeSync(handle)
    }
    fs.renameSync(temporary, file)
  } catch (error) {
    fs.rmSync(temporary, { force: true })
    throw error
  }
  syncFolder(dirname(file))
}

/** So that the name outlives a crash, too. Some file systems cannot, and lose nothing but that. */
function syncFolder(folder: string): void {
  try {
    const handle = fs.openSync(folder, 'r')
    try {
      fs.fsyncSync(handle)
    } finally {
      fs.closeSync(handle)
    }
  } catch {
    // The file itself is there.
  }
}
