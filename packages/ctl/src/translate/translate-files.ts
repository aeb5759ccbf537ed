import { gatewayProblem, type ManifestTranslation, printProblem, translateManifests } from '@portico/gateway/manifests'
import { redact } from '@portico/gateway/redact'
import { stringify } from 'yaml'
import { exitCode, type Io } from '../io.ts'
import { printableBlock } from '../printable.ts'

interface TranslateRequest {
  file: string
  /** The Gateway as `namespace/name`; null for all. */
  gateway: string | null
  isJson: boolean
}

/** Prints the configs on standard output and problems on standard error; returns the exit code. */
export async function translateFiles({ file, gateway, isJson }: TranslateRequest, io: Io): Promise<number> {
  const made = await read(file)
  if (typeof made === 'string') return failWithAll([`${file}: cannot be read: ${made}`], io)
  if (!made.ok) return failWithAll(made.problems.map(printProblem), io)
  const { translated, notes, refused } = made
  const isThere = gateway === null ? translated.gateways.size > 0 : translated.gateways.has(gateway)
  const missing = isThere ? [] : [gatewayProblem(file, translated, gateway)]
  const shown = (key: string): boolean => gateway === null || key === gateway
  const plain = {
    // Each config is redacted separately, because a Gateway's name may look like that of a secret.
    gateways: sortEntries(translated.gateways, (ir) => redact(ir), shown),
    endpoints: sortEntries(translated.endpoints, (addresses) => addresses, shown),
    statuses: sortEntries(translated.statuses, (status) => status),
  }
  const text = isJson ? `${JSON.stringify(plain, null, 2)}\n` : stringify(plain, YAML_FORM)
  // A reader such as `head` may close the pipe.
  io.stdout.on('error', () => {})
  io.stdout.write(io.stdout.isTTY ? printableBlock(text) : text)
  printProblems([...notes, ...refused, ...missing].map(printProblem), io)
  return refused.length + missing.length === 0 ? exitCode.fine : exitCode.failed
}

const YAML_FORM = { lineWidth: 120, aliasDuplicateObjects: false }

async function read(file: string): Promise<ManifestTranslation | string> {
  try {
    return await translateManifests(file)
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    return error.message
  }
}

function failWithAll(problems: readonly string[], io: Io): number {
  printProblems(problems, io)
  return exitCode.failed
}

function printProblems(problems: readonly string[], io: Io): void {
  for (const problem of problems) io.stderr.write(`${printableBlock(problem)}\n`)
}

/** Returns the shown entries sorted by name, whatever order they were found in. */
function sortEntries<Value>(
  map: ReadonlyMap<string, Value>,
  show: (value: Value) => unknown,
  isShown: (key: string) => boolean = () => true,
): Record<string, unknown> {
  const entries = [...map].filter(([key]) => isShown(key)).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, value]) => [key, show(value)]))
}
