// Checks the wording of the tree (rules.mjs) and the length of commit subjects: `npm run language`.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { finderFor } from './rules.mjs'

const MAX_SUBJECT = 72
/** Written by programs, or quoting the wording that the rules forbid. */
const SKIPPED = /^(scripts\/language\/|dist\/|schema\/|packages\/gateway\/src\/protos\/)/

/** Subjects longer than CONTRIBUTING.md allows. */
function longSubjects(subjects) {
  return subjects.filter((subject) => subject.length > MAX_SUBJECT)
}

/** Checks the repository at `root`; returns the exit code and the lines to print. */
export function run(root) {
  const subjects = longSubjects(newSubjects(root))
  const problems = [
    ...treeFindings(root),
    ...subjects.map((subject) => `commit subject over ${MAX_SUBJECT} characters: ${subject}`),
  ]
  if (problems.length === 0) return { code: 0, lines: [] }
  return { code: 1, lines: [...problems, 'See "Language" in CONTRIBUTING.md.'] }
}

/** The findings in all files, each as `path:line: text`. */
function treeFindings(root) {
  const findings = []
  for (const path of git(root, 'ls-files', '--cached', '--others', '--exclude-standard')) {
    const find = SKIPPED.test(path) ? undefined : finderFor(path)
    if (find === undefined || !existsSync(join(root, path))) continue
    for (const { line, text } of find(readFileSync(join(root, path), 'utf8'))) findings.push(`${path}:${line}: ${text}`)
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
  const { code, lines } = run(fileURLToPath(new URL('../..', import.meta.url)))
  if (lines.length > 0) console.error(lines.join('\n'))
  process.exitCode = code
}
