import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * Replaces a file atomically: readers see the old text or the new one, also after a crash. Links are followed, owner and
 * mode stay. Returns false when the file does not contain `before` any more, and throws when it cannot be written; the
 * file is unchanged in both cases.
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
    // Compared last, because another program may write the file while the new text is synced to disk.
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

/** Explains an error to the person who can fix it. */
export function whyNotWritten({ code = '', message, syscall = '' }: NodeJS.ErrnoException): string {
  if (syscall === 'fchown') return `this process may not keep the owner of the file (${code})`
  return KNOWN[code] ?? message
}

const KNOWN: Readonly<Record<string, string>> = {
  EACCES: 'this process may not create files in its folder (EACCES)',
  EROFS: 'its folder is read-only (EROFS)',
  EBUSY: 'it is mounted by itself, and cannot be replaced: mount its folder (EBUSY)',
  ENOSPC: 'no space left on the device (ENOSPC)',
}

/** Syncs the folder, so that the new name survives a crash. Errors are ignored, as some file systems do not support it. */
function syncFolder(folder: string): void {
  try {
    const handle = fs.openSync(folder, 'r')
    try {
      fs.fsyncSync(handle)
    } finally {
      fs.closeSync(handle)
    }
  } catch {
    // The file itself is written.
  }
}
