import { list, object } from '../kit.ts'
import type { Output } from '../kit.ts'
import { secretText } from './auth/credential.ts'
import { addedHeaderName, urlPath } from './http-parts.ts'
import { serviceReference } from './references.ts'
import { duration, enumeration } from './values.ts'

/** The fields of an OTLP collector; `path` is the default path of this kind of telemetry. */
export function collectorFields(path: string) {
  return {
    backendRef: serviceReference().describe('The collector; its backend policies apply to the calls.'),
    protocol: enumeration(['GRPC', 'HTTP']).prefault('GRPC').describe('OTLP transport.'),
    path: urlPath().optional().describe(`Path of the collector, with \`HTTP\` only; \`${path}\` when unset.`),
    timeout: duration({ min: '1ms', max: '10m' })
      .optional()
      .describe('Timeout of a call; after it the data is sent again. 10s when unset.'),
    headers: list(
      object({
        name: addedHeaderName().describe('Name of the header.'),
        value: secretText({ max: 4_096 }).describe('Value of the header.'),
      }).describe('A header.'),
      { min: 1, max: 16, uniqueBy: 'name' },
    )
      .optional()
      .describe('Headers of each call, for example an API key; with `GRPC` they are metadata.'),
  }
}

const collector = object(collectorFields(''))

export type CollectorConfig = Output<typeof collector>
