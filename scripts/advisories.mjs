// Holds the lockfile against the advisories that the registry knows: fails on those of high severity in what ships, prints
// the others, and says why where the registry offers none. `npm run advisories`.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { foreignPath } from './install-packed.mjs'
import { judgeAudit } from './judge-audit.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const options = { cwd: root, encoding: 'utf8', env: { ...process.env, PATH: foreignPath() }, timeout: 120_000 }
const { stdout, stderr, error } = spawnSync('npm', ['audit', '--json'], options)
const { lines, failed } = judgeAudit(stdout ?? '', error?.message ?? stderr ?? '')
process.stdout.write(lines.map((line) => `${line}\n`).join(''))
process.exitCode = failed ? 1 : 0
