import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isObject } from '@portico/http/json'
import type { Path } from '../schema/problem.ts'
import { printPath } from '../schema/problem.ts'
import { type LoadedConfig, type LoadOptions, type LoadResult, loadConfig } from '../sources/file.ts'
import type { LocatedProblem } from '../sources/located-problem.ts'
import { parseYaml } from '../sources/yaml/yaml.ts'
import type { Severity } from './check.ts'
import { CHECKS, type LintCode, LOADER_CODES } from './checks.ts'
import { ignores, readIgnores } from './ignores.ts'
import { fileLocator, type FindingLocation, type Locator, manifestLocator } from './locate.ts'
import { createSubject, type LintWorld } from './subject.ts'

/** A finding of one check. */
export interface LintFinding {
  /** The code of a check, or of a problem for which the config is rejected. */
  readonly code: string
  readonly severity: Severity
  readonly location: FindingLocation
  /** `found …, expected …`. */
  readonly message: string
  /** The remedy; null when the message says everything. */
  readonly fix: string | null
  /** Whether the code has a page in `docs/lint`. */
  readonly hasPage: boolean
}

export interface LintReport {
  readonly findings: readonly LintFinding[]
  /** The number of findings that comments ignore. */
  readonly ignored: number
}

type LintOptions = Omit<LoadOptions, 'file' | 'dir'> & {
  readonly now: number
  /** `namespace/name` of the Gateway, for manifests. */
  readonly gateway?: string | null
}

/** Lints a config file, or a file or folder of manifests. */
export async function lintPath(path: string, options: LintOptions): Promise<LintReport> {
  const isFolder = statSync(path).isDirectory()
  const text = isFolder ? '' : readFileSync(path, 'utf8')
  if (!isFolder && !MANIFEST.test(text)) return lintText(text, { ...options, file: path, dir: dirname(path) })
  const { loadManifests } = await import('../sources/manifests/manifests.ts')
  const loaded = await loadManifests(path, { gateway: options.gateway ?? null, env: options.env })
  return lintLoaded(loaded, { file: path, text: null, env: options.env, now: options.now })
}

const MANIFEST = /^(?:\{\s*)?["']?apiVersion["']?\s*:/m

/** Lints the text of a config file. */
export function lintText(text: string, { now, ...options }: LoadOptions & { readonly now: number }): LintReport {
  return lintLoaded(loadConfig(text, options), { file: options.file, text, env: options.env, now })
}

interface LintSource extends LintWorld {
  readonly file: string
  /** Null for manifests. */
  readonly text: string | null
}

/** Lints a config that is already loaded. */
function lintLoaded(loaded: LoadResult, { file, text, ...world }: LintSource): LintReport {
  if (!loaded.ok) return { findings: loaded.problems.map((problem) => ofProblem(problem, file, 'error')), ignored: 0 }
  const locate =
    text === null ? manifestLocator(loaded, file) : fileLocator(loaded, file, rawLocations(text, file, loaded))
  const found = [
    ...loaded.warnings.map((problem) => ofProblem(problem, file, 'warning')),
    ...runChecks(loaded, locate, { text, ...world }),
  ]
  const { findings, ignored } = withoutIgnored(unique(found), text, file)
  return { findings: findings.toSorted(byLocation), ignored }
}

function runChecks(
  { ir, process }: LoadedConfig,
  locate: Locator,
  { text, ...world }: Omit<LintSource, 'file'>,
): LintFinding[] {
  const subject = createSubject({ ir, process, text }, world)
  return Object.values(CHECKS).flatMap(({ code, severity, fix, run }) => {
    const findings: LintFinding[] = []
    run(subject, (target, { found, expected }) => {
      const location = locate(target)
      findings.push({ code, severity, location, message: `${found}, expected ${expected}`, fix, hasPage: true })
    })
    return findings
  })
}

function ofProblem(problem: LocatedProblem, file: string, severity: Severity): LintFinding {
  const { code, path, found, expected, suggestion, location } = problem
  const at = 'variable' in location ? { file, line: 1, column: 1 } : location
  const name = code.replaceAll('_', '-')
  return {
    ...{ code: name, severity, fix: suggestion },
    location: { ...at, path: printPath(path) },
    message: `${found}${expected === '' ? '' : `, expected ${expected}`}`,
    hasPage: severity === 'warning' && name in LOADER_CODES,
  }
}

/** The location of a path in the text as written, before the short form `llm` is expanded. */
function rawLocations(text: string, file: string, loaded: LoadedConfig) {
  const parsed = parseYaml(text, file, {})
  return (path: Path): { file: string; line: number; column: number } => {
    const found = isObject(loaded.tree) ? parsed.locationOf(path, 'key') : { variable: '' }
    return 'file' in found ? found : { file, line: 1, column: 1 }
  }
}

/** One policy that holds for several routes is reported once. */
function unique(findings: readonly LintFinding[]): LintFinding[] {
  const keyOf = ({ code, location, message }: LintFinding): string => JSON.stringify([code, location, message])
  return [...new Map(findings.map((finding) => [keyOf(finding), finding])).values()]
}

function withoutIgnored(
  findings: readonly LintFinding[],
  text: string | null,
  file: string,
): { findings: LintFinding[]; ignored: number } {
  const comments = text === null ? [] : readIgnores(text)
  const isIgnored = (finding: LintFinding): boolean =>
    comments.some((comment) => comment.reason !== '' && ignores(comment, finding))
  const kept = findings.filter((finding) => !isIgnored(finding))
  const aboutComments = comments.flatMap(({ code, reason, line, column, target }): LintFinding[] => {
    const location = { file, line, column, path: '' }
    const finding = (name: LintCode, message: string, fix: string): LintFinding[] => [
      { code: name, severity: 'warning', location, message, fix, hasPage: true },
    ]
    if (!isCode(code) || reason === '') {
      const found = code === '' ? 'no code' : isCode(code) ? 'no reason' : `the unknown code \`${code}\``
      const expected = '`# portico-lint-ignore <code> <reason>`'
      return finding('ignore-malformed', `found ${found}, expected ${expected}`, LOADER_CODES['ignore-malformed'].fix)
    }
    if (findings.some((each) => ignores({ code, target, reason, line, column }, each))) return []
    const message = `found a comment that ignores nothing, expected a finding of \`${code}\` on line ${target}`
    return finding('ignore-unused', message, LOADER_CODES['ignore-unused'].fix)
  })
  return { findings: [...kept, ...aboutComments], ignored: findings.length - kept.length }
}

function isCode(code: string): boolean {
  return code in CHECKS || code in LOADER_CODES
}

function byLocation({ location: a }: LintFinding, { location: b }: LintFinding): number {
  return a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.column - b.column
}

/** Prints a finding as problems of a config are printed, with its code. */
export function printFinding({ code, location, message, fix }: LintFinding): string {
  const { file, line, column, path } = location
  const line1 = `${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message} [${code}]`
  return fix === null ? line1 : `${line1}\n    ${fix}`
}
