import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments, stringify } from 'yaml'
import { loadResourceChecks } from '@portico/gateway/checks'
import type { PemChecks } from '@portico/gateway/schema'
import type { Resource } from '../resources/resource.ts'
import { type Translated, Translator } from '../translator.ts'

/** One folder of `cases`: resources in, configs and statuses out. */
export interface GoldenCase {
  name: string
  folder: string
  resources: Resource[]
}

const root = fileURLToPath(new URL('../../cases', import.meta.url))

/** Every case, `<area>/<name>`. */
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

function readResources(file: string): Resource[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => {
    const [problem] = document.errors
    if (problem !== undefined) throw new Error(`${file}: ${problem.message}`)
    return document.toJS() as Resource
  })
}

/** Cases have names in place of certificates: real ones would say nothing to a reader. */
const nameChecks: PemChecks = {
  pair: (cert, key) =>
    cert.endsWith('.crt') && key === cert.replace('.crt', '.key') ? null : 'they do not belong together',
  authorities: (pem) => (pem.endsWith('.ca') ? null : 'there is no certificate in PEM'),
}

const checks = await loadResourceChecks()

export function createTranslator(): Translator {
  return new Translator({
    controllerName: 'portico.dev/gateway',
    clusterDomain: 'cluster.local',
    withoutSlices: 'unavailable',
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

/** As `out.yaml` has it. */
export function printTranslated(translated: Translated): string {
  const plain = toPlain(translated)
  // The class says the same in all cases.
  const statuses = translated.gateways.size === 0 ? plain['statuses'] : withoutClasses(plain['statuses'] ?? {})
  return stringify({ ...plain, statuses }, { lineWidth: 120, aliasDuplicateObjects: false })
}

function withoutClasses(statuses: object): object {
  return Object.fromEntries(Object.entries(statuses).filter(([id]) => !id.startsWith('GatewayClass/')))
}

/** Whatever order things were found in. */
export function toPlain({ gateways, endpoints, statuses }: Translated): Record<string, object> {
  return { gateways: sorted(gateways), endpoints: sorted(endpoints), statuses: sorted(statuses) }
}

function sorted(map: ReadonlyMap<string, unknown>): Record<string, unknown> {
  return Object.fromEntries([...map].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
