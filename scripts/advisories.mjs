// Checks the lockfile against the registry's advisories: fails for high severity in packages that ship, prints the others,
// and says so when the registry offers none. `npm run advisories`.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { foreignPath } from './package/install-packed.mjs'
import { judgeAudit } from './judge-audit.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { lines, failed } = judge(root)
// VitePress builds the docs and is part of nothing that ships: its advisories are told, and fail nothing.
const site = judge(join(root, 'site')).lines.map((line) => `site: ${line}`)
process.stdout.write([...lines, ...site].map((line) => `${line}\n`).join(''))
process.exitCode = failed ? 1 : 0

function judge(folder) {
  const options = { cwd: folder, encoding: 'utf8', env: { ...process.env, PATH: foreignPath() }, timeout: 120_000 }
  const { stdout, stderr, error } = spawnSync('npm', ['audit', '--json'], options)
  return judgeAudit(stdout ?? '', error?.message ?? stderr ?? '')
}
