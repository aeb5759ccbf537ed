import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * Replaces a file as a whole: whoever reads it sees the old text or the new one, after a crash too. Links are followed,
 * owner and mode stay. False where it does not say `before` any more; throws where it cannot be written. Either way
 * everything is as it was.
 */
export function replaceFile(path: string, text: string, before: string): boolean {
  if (!fs.existsSync(path)) return false
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
    // At the last moment: to bring the new text to the disk takes a while, in which others may write.
    if (fs.readFileSync(path, 'utf8') !== before) {
      fs.rmSync(temporary)
      return false
    }
    fs.renameSync(temporary, file)
  } catch (error) {
    fs.rmSync(temporary, { force: true })
    throw error
  }
  syncFolder(dirname(file))
  return true
}

/** In words for who can do something about it. */
export function whyNotWritten({ code = '', message, syscall = '' }: NodeJS.ErrnoException): string {
  if (syscall === 'fchown') return `this process cannot give it to the owner that it has (${code})`
  return KNOWN[code] ?? message
}

const KNOWN: Readonly<Record<string, string>> = {
  EACCES: 'this process may not make files in its folder (EACCES)',
  EROFS: 'its folder is read-only (EROFS)',
  EBUSY: 'it is mounted by itself, and cannot be replaced: mount its folder (EBUSY)',
  ENOSPC: 'there is no room left (ENOSPC)',
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
