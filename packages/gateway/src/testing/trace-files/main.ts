// npm run trace-files -- [--list]
// Prints how many source files one request of each kind runs; `--list` prints the files too, by folder.
import { parseArgs } from 'node:util'
import { traceFiles } from './trace-files.ts'

const { values } = parseArgs({ options: { list: { type: 'boolean', default: false } } })
for (const [name, files] of await traceFiles()) {
  process.stdout.write(`${name}: ${files.length} files\n`)
  if (values.list) for (const file of files) process.stdout.write(`  ${file.slice('packages/'.length)}\n`)
}
