import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const FRESH_UI = new URL('../../scripts/fresh-ui.mjs', import.meta.url).href

/** Builds the pages where they are not of today's sources. Beside a gateway that would take long on a busy machine. */
export async function freshPages(): Promise<void> {
  const script = `import(${JSON.stringify(FRESH_UI)}).then(({ freshUi }) => freshUi())`
  await promisify(execFile)(process.execPath, ['--eval', script])
}
