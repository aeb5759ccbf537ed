import { resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { Refusal } from '../../schema/kit.ts'
import type { ContentsReference, Json, ParseText } from '../../schema/kit.ts'
import { printPath } from '../../schema/problem.ts'
import type { Problem } from '../../schema/problem.ts'
import { certificateFault, keyFault, pairFault } from './certificates.ts'
import type { FoundReference } from '../check/references.ts'
import { reporter } from '../check/report.ts'
import type { Environment } from '../substitute.ts'
import { putAt, type Spot } from '../check/tree.ts'

interface ReadContents {
  /** Absolute paths of all files that the config names, found or not. */
  files: string[]
  problems: Problem[]
  /** Replaces the references by the contents that were read. */
  fillIn(config: unknown): void
}

interface ContentsOptions {
  /** Folder that files are relative to. */
  dir: string
  env: Environment
  readFile: (path: string) => string
  absentPem: AbsentPem | null
}

/** Returns a certificate and its private key, in PEM form, for a file that is absent. */
export type AbsentPem = (this: void, file: string) => { readonly certificate: string; readonly key: string }

type FoundFile = FoundReference<ContentsReference>
type Location = NonNullable<ReturnType<ContentsReference['locate']>>

/** Reads and checks the files that the config refers to. */
export function readReferencedFiles(found: readonly FoundFile[], options: ContentsOptions): ReadContents {
  const reader = new ReferenceReader(options)
  const values = found.flatMap((reference) => {
    const value = reader.read(reference)
    return value === undefined ? [] : [{ path: reference.spot.path, value }]
  })
  const valuesByPath = new Map(values.map(({ path, value }) => [printPath(path), value]))
  reader.checkPairs(found, valuesByPath)
  return {
    files: reader.files,
    problems: reader.problems,
    fillIn: (config) => values.forEach(({ path }) => putAt(config, path, valuesByPath.get(printPath(path)))),
  }
}

/** Each file is read and checked once, however often it is named; problems are reported at each reference. */
class ReferenceReader {
  readonly problems: Problem[] = []
  readonly #options: ContentsOptions
  readonly #report = reporter(this.problems)
  readonly #textsByFile = new Map<string, string | Error>()
  readonly #faultsByText = new Map<string, string | null>()
  /** The stand-in pairs for absent files, by their certificate and by their key. */
  readonly #pairsOfAbsent = new Map<string, ReturnType<AbsentPem>>()

  constructor(options: ContentsOptions) {
    this.#options = options
  }

  get files(): string[] {
    return [...this.#textsByFile.keys()]
  }

  /** The content that replaces the reference; undefined when there is nothing to read, or the content is invalid. */
  read({ spot, refers }: FoundFile): unknown {
    const location = refers.locate(spot.value)
    const text = location === null ? null : this.#textAt(spot, location, refers)
    if (text === null) return undefined
    return refers.pem === null ? this.#parsed(spot, refers, text) : this.#checkedPem(spot, refers.pem, text)
  }

  /**
   * Checks that the certificate and the private key in one mapping belong together. When one of the two files is
   * absent, stand-ins replace both.
   */
  checkPairs(found: readonly FoundFile[], textsByPath: Map<string, unknown>): void {
    const certificates = new Map(
      found.filter(({ refers }) => refers.pem === 'certificate').map((each) => [parentOf(each.spot), each.spot]),
    )
    for (const { spot, refers } of found) {
      const certificate = refers.pem === 'privateKey' ? certificates.get(parentOf(spot)) : undefined
      if (certificate === undefined) continue
      const [cert, key] = [certificate, spot].map((each) => textsByPath.get(printPath(each.path)))
      if (typeof cert !== 'string' || typeof key !== 'string') continue
      const fault = this.#once(`pair ${cert} ${key}`, () => pairFault(cert, key))
      if (fault === null) continue
      const [ownPair] = [cert, key].flatMap((text) => this.#pairsOfAbsent.get(text) ?? [])
      if (ownPair !== undefined) {
        textsByPath.set(printPath(certificate.path), ownPair.certificate).set(printPath(spot.path), ownPair.key)
        continue
      }
      this.#report('bad_certificate', spot, { found: fault, expected: `the key of ${certificate.text}` })
    }
  }

  #textAt(spot: Spot, location: Location, refers: ContentsReference): string | null {
    if ('text' in location) return location.text
    return 'file' in location ? this.#fromFile(spot, location.file, refers) : this.#fromEnvironment(spot, location.env)
  }

  #fromFile(spot: Spot, name: string, { expected, pem }: ContentsReference): string | null {
    const file = resolve(this.#options.dir, name)
    const text = this.#textsByFile.get(file) ?? attempt(() => this.#options.readFile(file))
    this.#textsByFile.set(file, text)
    if (typeof text === 'string') return text
    const { absentPem } = this.#options
    if (absentPem !== null && pem !== null && (text as NodeJS.ErrnoException).code === 'ENOENT') {
      const pair = absentPem(file)
      this.#pairsOfAbsent.set(pair.certificate, pair).set(pair.key, pair)
      return pem === 'privateKey' ? pair.key : pair.certificate
    }
    this.#report('unreadable_file', spot, { found: `found no readable file ${file} (${text.message})`, expected })
    return null
  }

  #fromEnvironment(spot: Spot, name: string): string | null {
    const text = this.#options.env[name]
    if (text !== undefined && text !== '') return text
    this.#report('unset_variable', spot, {
      found: `found \`${name}\`, but the variable is not set`,
      expected: 'an environment variable',
      suggestion: `set ${name}`,
    })
    return null
  }

  #checkedPem(spot: Spot, pem: NonNullable<ContentsReference['pem']>, text: string): string | undefined {
    const isKey = pem === 'privateKey'
    const fault = this.#once(`${isKey ? 'key' : 'certificates'} ${text}`, () =>
      isKey ? keyFault(text) : certificateFault(text),
    )
    if (fault === null) return text
    this.#report('bad_certificate', spot, { found: fault, expected: PEM_EXPECTED[pem] })
    return undefined
  }

  #parsed(spot: Spot, refers: ContentsReference, text: string): unknown {
    const value = refers.read(text, parseText)
    if (!(value instanceof Refusal)) return value
    const found = `found ${value.detail ?? 'something else'}`
    this.#report(value.code, spot, { found, expected: refers.expected })
    return undefined
  }

  #once(text: string, find: () => string | null): string | null {
    const known = this.#faultsByText.get(text)
    if (known !== undefined) return known
    const fault = find()
    this.#faultsByText.set(text, fault)
    return fault
  }
}

const PEM_EXPECTED: Record<NonNullable<ContentsReference['pem']>, string> = {
  certificate: 'a certificate chain in PEM form',
  privateKey: 'a private key in PEM form, without passphrase',
  authorities: 'certificates in PEM form',
}

/** Variables in the contents are not substituted. */
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

function attempt<T>(action: () => T): T | Error {
  try {
    return action()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
