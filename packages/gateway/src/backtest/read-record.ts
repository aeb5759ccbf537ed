import { isObject } from '@portico/http/json'
import { RECORD_OUTCOMES, type RecordOutcome, type RequestRecord } from '../telemetry/recorder/record.ts'

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || value === undefined || check(value)
const isMapping: Check = (value) => isObject(value)
const isHeaders: Check = (value) =>
  isObject(value) &&
  Object.values(value).every((line) => isText(line) || (Array.isArray(line) && line.every((each) => isText(each))))
const isModelCall: Check = (value) =>
  isObject(value) &&
  ['provider', 'providerName', 'requestModel'].every((name) => isText(value[name])) &&
  ['operation', 'clientModel'].every((name) => orNull(isText)(value[name])) &&
  ['inputTokens', 'outputTokens'].every((name) => orNull(isNumber)(value[name]))
const isBody: Check = (value) => isObject(value) && orNull(isText)(value['text']) && orNull(isText)(value['base64'])

/** The fields of a record that a back-test reads. */
const FIELDS: Readonly<Record<string, Check>> = {
  ...{ id: isText, at: isNumber, status: isNumber, attempts: isNumber, bytesIn: isNumber },
  ...{ method: orNull(isText), host: orNull(isText), path: orNull(isText), version: orNull(isText) },
  ...{ source: orNull(isText), sni: orNull(isText), key: orNull(isText), endpoint: orNull(isText) },
  ...{ route: orNull(isText), backend: orNull(isText) },
  outcome: (value) => RECORD_OUTCOMES.includes(value as RecordOutcome),
  scheme: (value) => value === 'http' || value === 'https',
  keys: (value) => isObject(value) && Object.values(value).every(orNull(isText)),
  reason: orNull((value) => isObject(value) && isText(value['kind']) && orNull(isText)(value['policy'])),
  ...{ requestHeaders: orNull(isHeaders), requestBody: orNull(isBody) },
  ...{ llm: orNull(isModelCall), mcp: orNull(isMapping), variables: orNull(isMapping) },
}

/**
 * Checks that a value is a whole record in the form of `/api/requests/download`; returns the problem as a string
 * otherwise.
 */
export function readRecord(value: unknown): RequestRecord | string {
  if (!isObject(value)) return 'expected a record, a JSON object'
  if (value['keys'] === undefined && isText(value['id'])) {
    return 'found a request of a list, expected a whole record, as `/api/requests/download` has it'
  }
  for (const [name, check] of CHECKS) if (!check(value[name])) return `field \`${name}\` is not that of a record`
  const isWhole = ABSENT_NAMES.every((name) => Object.hasOwn(value, name))
  // A copy of each of thousands of records would take longer than the checks.
  return (isWhole ? value : { ...ABSENT, ...value }) as unknown as RequestRecord
}

const CHECKS = Object.entries(FIELDS)

const ABSENT = {
  ...{ method: null, host: null, path: null, version: null, source: null, sni: null, key: null, endpoint: null },
  ...{ route: null, backend: null, reason: null, requestHeaders: null, requestBody: null, llm: null, mcp: null },
  variables: null,
}
const ABSENT_NAMES = Object.keys(ABSENT)
