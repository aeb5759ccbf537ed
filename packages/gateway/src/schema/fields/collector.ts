import { list, object } from '../kit.ts'
import type { Output } from '../kit.ts'
import { secretText } from './auth/credential.ts'
import { addedHeaderName, urlPath } from './http-parts.ts'
import { serviceReference } from './references.ts'
import { duration, enumeration } from './values.ts'

/** The fields of an OTLP collector; `path` is the default path of this kind of telemetry. */
export function collectorFields(path: string) {
  return {
    backendRef: serviceReference().describe('The collector; its backend policies hold for the calls.'),
    protocol: enumeration(['GRPC', 'HTTP']).prefault('GRPC').describe('How it is spoken to.'),
    path: urlPath().optional().describe(`Where requests are posted, with \`HTTP\` only; \`${path}\` when unset.`),
    timeout: duration({ min: '1ms', max: '10m' })
      .optional()
      .describe('How long an answer may take before the request is sent again; 10 s when unset.'),
    headers: list(
      object({
        name: addedHeaderName().describe('Its name.'),
        value: secretText({ max: 4_096 }).describe('Its value.'),
      }).describe('A header.'),
      { min: 1, max: 16, uniqueBy: 'name' },
    )
      .optional()
      .describe('Headers of each request, such as the key of a vendor; metadata with `GRPC`.'),
  }
}

const collector = object(collectorFields(''))

export type CollectorConfig = Output<typeof collector>
