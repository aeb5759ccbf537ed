// Prints the folder of this checkout's web UI, and builds it when it is outdated.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { setPriority } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { addFile, removeOld } from './fresh-program.mjs'

const root = resolve(import.meta.dirname, '..')
const cache = join(root, 'node_modules/.cache/portico')

/** Returns the folder; throws when the UI cannot be built. */
export async function freshUi() {
  const folder = join(cache, `ui-${fingerprint()}`)
  if (existsSync(folder)) return folder
  const making = `${folder}.${process.pid}`
  mkdirSync(cache, { recursive: true })
  try {
    const { buildUi } = await import('./build-ui.mjs')
    await buildUi(pathToFileURL(`${making}/`))
    renameSync(making, folder)
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    // Another gateway may have built it in the meantime.
    if (!existsSync(folder)) throw error
  }
  removeOld('ui', folder)
  return folder
}

function fingerprint() {
  const hash = createHash('sha256')
  const ui = join(root, 'packages/ui')
  for (const entry of readdirSync(join(ui, 'src'), { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && !entry.name.includes('.test.')) addFile(hash, join(entry.parentPath, entry.name))
  }
  for (const file of [
    'packages/ui/package.json',
    'packages/ui/index.html',
    'package-lock.json',
    'scripts/build-ui.mjs',
    'schema/config.json',
  ])
    addFile(hash, join(root, file))
  return hash.digest('hex').slice(0, 16)
}

if (process.argv[1] === import.meta.filename) {
  // Low priority, because traffic comes first.
  setPriority(10)
  process.stdout.write(await freshUi())
}
