import { resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { Refusal } from '../schema/kit.ts'
import type { ContentsReference, Json, ParseText } from '../schema/kit.ts'
import { printPath } from '../schema/problem.ts'
import type { Path, Problem } from '../schema/problem.ts'
import { certificateFault, keyFault, pairFault } from './certificates.ts'
import type { FoundReference } from './references.ts'
import { reporter } from './report.ts'
import type { Environment } from './substitute.ts'
import type { Spot } from './tree.ts'

export interface ReadContents {
  /** Absolute paths of all files that the config names, found or not. */
  files: string[]
  problems: Problem[]
  /** Puts what was read in the place of its names. */
  fillIn(config: unknown): void
}

export interface ContentsOptions {
  /** Folder that files are relative to. */
  dir: string
  env: Environment
  readFile: (path: string) => string
}

type Found = FoundReference<ContentsReference>
type Location = NonNullable<ReturnType<ContentsReference['locate']>>

/** Reads and checks everything that the config names instead of holding it. */
export function readReferencedFiles(found: readonly Found[], options: ContentsOptions): ReadContents {
  const problems: Problem[] = []
  const report = reporter(problems)
  const files = new Set<string>()
  const textsByFile = new Map<string, string | Error>()
  const faults = new Map<string, string | null>()
  const values: { path: Path; value: unknown }[] = []

  for (const { spot, refers } of found) {
    const location = refers.locate(spot.value)
    if (location === null) continue
    const text = textAt(spot, location, refers)
    if (text === null) continue
    const value = accept(spot, refers, text)
    if (!(value instanceof Refusal)) values.push({ path: spot.path, value })
  }
  checkPairs()
  return {
    files: [...files],
    problems,
    fillIn: (config) => values.forEach(({ path, value }) => put(config, path, value)),
  }

  function textAt(spot: Spot, location: Location, refers: ContentsReference): string | null {
    if ('text' in location) return location.text
    return 'file' in location ? fromFile(spot, location.file, refers) : fromEnvironment(spot, location.env)
  }

  function fromFile(spot: Spot, name: string, { expected }: ContentsReference): string | null {
    const file = resolve(options.dir, name)
    files.add(file)
    const text = textsByFile.get(file) ?? attempt(() => options.readFile(file))
    textsByFile.set(file, text)
    if (typeof text === 'string') return text
    report('unreadable_file', spot, {
      found: `found no readable file ${file} (${text.message})`,
      expected,
    })
    return null
  }

  function fromEnvironment(spot: Spot, name: string): string | null {
    const text = options.env[name]
    if (text !== undefined && text !== '') return text
    report('unset_variable', spot, {
      found: `found \`${name}\`, but the variable is not set`,
      expected: 'a variable of the environment',
      suggestion: `set ${name}`,
    })
    return null
  }

  function accept(spot: Spot, refers: ContentsReference, text: string): unknown {
    const { pem, expected } = refers
    if (pem !== null) {
      const check = pem === 'privateKey' ? keyFault : certificateFault
      const fault = once(`${pem === 'privateKey' ? 'key' : 'certificates'} ${text}`, () => check(text))
      if (fault === null) return text
      report('bad_certificate', spot, { found: fault, expected: PEM_EXPECTED[pem] })
      return new Refusal('bad_format')
    }
    const value = refers.read(text, parseText)
    if (value instanceof Refusal) {
      report(value.code, spot, { found: `found ${value.detail ?? 'something else'}`, expected })
    }
    return value
  }

  /** The same file is often named many times; its contents are checked once, and reported at each place. */
  function once(key: string, find: () => string | null): string | null {
    const known = faults.get(key)
    if (known !== undefined) return known
    const fault = find()
    faults.set(key, fault)
    return fault
  }

  /** A certificate and a private key in one mapping belong together. */
  function checkPairs(): void {
    const textsByPath = new Map(values.map(({ path, value }) => [printPath(path), value]))
    const certificates = new Map(
      found.filter(({ refers }) => refers.pem === 'certificate').map((each) => [parentOf(each.spot), each.spot]),
    )
    for (const { spot, refers } of found) {
      const certificate = refers.pem === 'privateKey' ? certificates.get(parentOf(spot)) : undefined
      if (certificate === undefined) continue
      const [cert, key] = [certificate, spot].map((each) => textsByPath.get(printPath(each.path)))
      if (typeof cert !== 'string' || typeof key !== 'string') continue
      const fault = once(`pair ${cert} ${key}`, () => pairFault(cert, key))
      if (fault !== null) report('bad_certificate', spot, { found: fault, expected: `the key of ${certificate.text}` })
    }
  }
}

const PEM_EXPECTED: Record<NonNullable<ContentsReference['pem']>, string> = {
  certificate: 'a certificate chain in PEM form',
  privateKey: 'a private key in PEM form, without passphrase',
  authorities: 'certificates in PEM form',
}

/** Variables are not filled in: what is read belongs to others. */
const parseText: ParseText = (text) => {
  const document = parseDocument(text, { stringKeys: true, prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined) return { fault: `broken YAML or JSON (${error.message})` }
  const value: Json | Error = attempt(() => document.toJS({ maxAliasCount: 1_000 }) as Json)
  return value instanceof Error ? { fault: `broken YAML (${value.message})` } : { value }
}

function parentOf(spot: Spot): string {
  return printPath(spot.path.slice(0, -1))
}

/** Scalars alone are filled in, so every step on the way there exists. */
function put(config: unknown, path: Path, value: unknown): void {
  let holder = config as Record<string | number, unknown>
  for (const step of path.slice(0, -1)) holder = holder[step] as Record<string | number, unknown>
  holder[path.at(-1)!] = value
}

function attempt<T>(action: () => T): T | Error {
  try {
    return action()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
