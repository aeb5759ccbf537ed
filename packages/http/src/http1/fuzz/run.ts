import { parseArgs } from 'node:util'
import { escaped, minimise } from './minimise.ts'
import { runSession, type Summary } from './session.ts'

const { values } = parseArgs({
  options: { count: { type: 'string', default: '200000' }, seed: { type: 'string', default: '1' } },
})
const count = Number(values.count)
const seed = Number(values.seed)
if (!Number.isSafeInteger(count) || !Number.isSafeInteger(seed) || count < 1 || seed < 0) {
  process.stderr.write('usage: npm run fuzz -- [--count <cases>] [--seed <first seed>]\n')
  process.exit(2)
}

const startedAt = performance.now()
const step = Math.max(1, Math.floor(count / 20))
let reported = 0
const summary = await runSession(seed, count, (done) => {
  if (done - reported < step && done < count) return
  reported = done
  process.stdout.write(`${done} of ${count} cases, ${seconds()} s\n`)
})
report(summary)
for (const { case: found, problem } of summary.disagreements.slice(0, 10)) {
  const least = await minimise(found)
  process.stdout.write(
    `\ndisagreement at seed ${found.seed} (${found.direction} ${found.method}, ends: ${found.ends}): ${problem}\n` +
      `  repeat with: npm run fuzz -- --count 1 --seed ${found.seed}\n` +
      `  least: ${escaped(least)} in ${least.pieces.length} piece(s)\n`,
  )
}
process.exit(summary.disagreements.length === 0 ? 0 : 1)

function report({ cases, agreed, refusedByBoth, refusedByOurs, disagreements }: Summary): void {
  const only = [...refusedByOurs].toSorted(([, a], [, b]) => b - a)
  const total = only.reduce((sum, [, times]) => sum + times, 0)
  process.stdout.write(
    `\n${cases} cases from seed ${seed} in ${seconds()} s\n` +
      `  ${agreed} messages read alike by both parsers\n` +
      `  ${refusedByBoth} cases refused by both\n` +
      `  ${total} cases refused by ours alone:\n` +
      only.map(([code, times]) => `    ${times} ${code}\n`).join('') +
      `  ${disagreements.length} disagreements\n`,
  )
}

function seconds(): string {
  return ((performance.now() - startedAt) / 1000).toFixed(1)
}
