// Runs every test file; arguments narrow it to files whose path contains one of them.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isRecentEnough, runPinned } from '../packages/gateway/bin/runtime.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const wanted = process.argv.slice(2)

if (!isRecentEnough()) runPinned(fileURLToPath(import.meta.url), wanted)
else {
  const files = ['packages', 'bench', 'scripts']
    .flatMap((folder) => testFiles(join(root, folder)))
    .map((file) => relative(root, file))
    .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
    .toSorted((a, b) => (a < b ? -1 : 1))
  const runner = spawn(process.execPath, ['--test', '--test-reporter=spec', '--test-timeout=120000', ...files], {
    cwd: root,
    stdio: 'inherit',
  })
  runner.on('exit', (code) => process.exit(code ?? 1))
}

function testFiles(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.test\.(ts|mjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('node_modules') && !file.includes('/dist/'))
}
