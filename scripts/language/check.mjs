// Checks the wording of the tree (rules.mjs) and the length of commit subjects: `npm run language`. Folders with older
// findings are listed in debt.json with their number, which may only shrink: more findings fail the check, and `--write`
// records fewer. A move between folders is recorded by `--write` too, as long as the sum does not grow. `--list folder`
// prints the findings of a folder.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { finderFor } from './rules.mjs'

const DEBT = 'scripts/language/debt.json'
const MAX_SUBJECT = 72
/** Written by programs, or quoting the wording that the rules forbid. */
const SKIPPED = /^(scripts\/language\/|dist\/|schema\/|packages\/gateway\/src\/protos\/)/

/** The folder whose count a file belongs to: a package, a chart, or a folder of the root. */
function folderOf(path) {
  return /^(?:packages\/[^/]+|[^/]+(?=\/))/.exec(path)?.[0] ?? '.'
}

/** Lines to print for folders that have more findings than `debt` allows. */
function excess(findingsByFolder, debt) {
  return Object.entries(findingsByFolder).flatMap(([folder, findings]) => {
    const allowed = debt[folder] ?? 0
    if (findings.length <= allowed) return []
    return [`${folder}: ${findings.length} findings, ${allowed} allowed`, ...(allowed === 0 ? findings : [])]
  })
}

/** The counts to write, or null when there are more findings than before. */
function lowered(findingsByFolder, debt) {
  const counts = Object.entries(findingsByFolder).map(([folder, { length }]) => [folder, length])
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0)
  if (sum(counts.map(([, count]) => count)) > sum(Object.values(debt))) return null
  return Object.fromEntries(counts.filter(([, count]) => count > 0).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Subjects longer than CONTRIBUTING.md allows. */
function longSubjects(subjects) {
  return subjects.filter((subject) => subject.length > MAX_SUBJECT)
}

/** Runs the command in the repository at `root`; returns its exit code and the lines to print. */
export function run(root, [command, folder]) {
  const findings = treeFindings(root)
  if (command === '--list') return { code: 0, lines: findings[folder] ?? [] }
  const file = join(root, DEBT)
  const debt = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const problems = excess(findings, debt)
  if (command === '--write') {
    const counts = lowered(findings, debt)
    if (counts === null) return { code: 1, lines: [...problems, `${DEBT} stays as it is: the sum of findings grew.`] }
    writeFileSync(file, `${JSON.stringify(counts, null, 2)}\n`)
    return { code: 0, lines: [] }
  }
  problems.push(
    ...longSubjects(newSubjects(root)).map((subject) => `commit subject over ${MAX_SUBJECT} characters: ${subject}`),
  )
  if (problems.length === 0) return { code: 0, lines: [] }
  return { code: 1, lines: [...problems, 'See "Language" in CONTRIBUTING.md.'] }
}

/** Findings by folder, each as `path:line: text`. */
function treeFindings(root) {
  const findings = {}
  for (const path of git(root, 'ls-files', '--cached', '--others', '--exclude-standard')) {
    const find = SKIPPED.test(path) ? undefined : finderFor(path)
    if (find === undefined || !existsSync(join(root, path))) continue
    const list = (findings[folderOf(path)] ??= [])
    for (const { line, text } of find(readFileSync(join(root, path), 'utf8'))) list.push(`${path}:${line}: ${text}`)
  }
  return findings
}

/** Subjects of the commits after the one that added this file; none in a clone that lacks that commit. */
function newSubjects(root) {
  const first = git(root, 'log', '--diff-filter=A', '--format=%H', '--', 'scripts/language/check.mjs').at(-1)
  return first === undefined ? [] : git(root, 'log', '--no-merges', '--format=%s', `${first}..HEAD`)
}

function git(root, ...args) {
  const text = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 })
  return text.split('\n').filter((line) => line !== '')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { code, lines } = run(fileURLToPath(new URL('../..', import.meta.url)), process.argv.slice(2))
  if (lines.length > 0) (code === 0 ? console.log : console.error)(lines.join('\n'))
  process.exitCode = code
}
