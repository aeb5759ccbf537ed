import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments, stringify } from 'yaml'
import { loadResourceChecks } from '@portico/gateway/checks'
import type { PemChecks } from '@portico/gateway/schema'
import type { Resource } from '../resources/resource.ts'
import type { TranslateSettings } from '../translate/context.ts'
import { type TranslationResult, Translator } from '../translator.ts'

/** One folder of `cases`: resources as input, configs and statuses as output. */
interface GoldenCase {
  name: string
  folder: string
  resources: Resource[]
}

const root = fileURLToPath(new URL('../../cases', import.meta.url))

/** Returns every case, named `<area>/<name>`. */
export function readCases(): GoldenCase[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name === 'in.yaml')
    .map(({ parentPath }) => ({
      name: relative(root, parentPath),
      folder: parentPath,
      resources: readResources(join(parentPath, 'in.yaml')),
    }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** Returns the resources of one case. */
export function readCase(name: string): Resource[] {
  return readResources(join(root, name, 'in.yaml'))
}

/** The resources of each file that was read. Parsing all files takes a second of CPU, and several tests read them. */
const parsed = new Map<string, Resource[]>()

/** Returns resources of the caller's own, which the caller may change. */
function readResources(file: string): Resource[] {
  const resources = parsed.get(file) ?? parseResources(file)
  parsed.set(file, resources)
  return structuredClone(resources)
}

function parseResources(file: string): Resource[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => {
    const [problem] = document.errors
    if (problem !== undefined) throw new Error(`${file}: ${problem.message}`)
    return document.toJS() as Resource
  })
}

/** Cases contain names in place of certificates, which would be unreadable. */
const nameChecks: PemChecks = {
  pair: (cert, key) =>
    cert.endsWith('.crt') && key === cert.replace('.crt', '.key') ? null : 'they do not belong together',
  authorities: (pem) => (pem.endsWith('.ca') ? null : 'there is no certificate in PEM'),
}

const checks = await loadResourceChecks()

/** `withoutSlices` is what becomes of a Service that has no EndpointSlice. */
export function createTranslator(withoutSlices: TranslateSettings['withoutSlices'] = 'unavailable'): Translator {
  return new Translator({
    controllerName: 'portico.dev/gateway',
    clusterDomain: 'cluster.local',
    externalNames: ['db.example.com', '*.partner.example'],
    withoutSlices,
    verify: 'required',
    pem: nameChecks,
    checks,
  })
}

export function translateAll(resources: readonly Resource[]): Translator {
  const translator = createTranslator()
  for (const resource of resources) translator.put(resource)
  translator.settle()
  return translator
}

/** Prints the result in the form of `out.yaml`. */
export function printTranslated(translated: TranslationResult): string {
  const plain = toPlain(translated)
  // The status of the class is the same in all cases.
  const statuses = translated.gateways.size === 0 ? plain['statuses'] : withoutClasses(plain['statuses'] ?? {})
  return stringify({ ...plain, statuses }, { lineWidth: 120, aliasDuplicateObjects: false })
}

function withoutClasses(statuses: object): object {
  return Object.fromEntries(Object.entries(statuses).filter(([id]) => !id.startsWith('GatewayClass/')))
}

/** The result as sorted plain data. */
export function toPlain({ gateways, endpoints, statuses }: TranslationResult): Record<string, object> {
  return { gateways: sortEntries(gateways), endpoints: sortEntries(endpoints), statuses: sortEntries(statuses) }
}

function sortEntries(map: ReadonlyMap<string, unknown>): Record<string, unknown> {
  return Object.fromEntries([...map].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
