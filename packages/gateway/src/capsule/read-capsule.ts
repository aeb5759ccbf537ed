import { readFileSync } from 'node:fs'
import { isObject } from '@portico/http/json'
import { CAPSULE_FORMAT, type Capsule } from './capsule.ts'

/**
 * Returns the capsule in a file; null for a file without a capsule, and the problem as a string for an unreadable
 * capsule.
 */
export function readCapsule(file: string): Capsule | string | null {
  const value = parsed(file)
  if (!isObject(value) || value['capsule'] === undefined) return null
  if (value['capsule'] !== CAPSULE_FORMAT) {
    return `found a capsule of the format ${JSON.stringify(value['capsule'])}, expected ${CAPSULE_FORMAT}: use the porticoctl of that version`
  }
  const { config, test, problem, endpoints } = value
  const hasConfig =
    isObject(config) &&
    LISTS.every((name) => Array.isArray(config[name]) && config[name].every((each) => isObject(each)))
  if (!hasConfig) return `expected \`config\` with the lists ${LISTS.join(', ')}`
  if (!isAddresses(endpoints)) return 'expected `endpoints`, lists of addresses by key'
  if (test === null) return typeof problem === 'string' ? problem : 'expected `test` or `problem`'
  return isObject(test) ? (value as unknown as Capsule) : 'expected `test`, a mapping'
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}

function isAddresses(value: unknown): boolean {
  const isList = (each: unknown): boolean =>
    Array.isArray(each) && each.every((address) => typeof address === 'string' && /^\S+:\d{1,5}$/.test(address))
  return isObject(value) && Object.values(value).every(isList)
}

const LISTS = ['binds', 'listeners', 'routes', 'backends', 'policies']
