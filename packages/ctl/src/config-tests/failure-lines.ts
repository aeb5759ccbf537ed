import type { TestFailure } from '@portico/gateway/config-tests'

/** A failure as lines of text: the difference, the decision with its location in the config, and the trace. */
export function failureLines(failure: TestFailure): string[] {
  const { location, request, differences, unknown, headline, decidedAt, trace } = failure
  return [
    `${placeText(location)}: ${request}`,
    ...(unknown === '' ? [] : [`  unknown: ${unknown}`]),
    ...differences.map(({ field, expected, actual }) => `  ${field.join('.')}: expected ${expected}, found ${actual}`),
    ...(headline === null ? [] : [`  decided: ${headline}${decidedAt === null ? '' : ` (${placeText(decidedAt)})`}`]),
    ...(trace.length === 0 ? [] : ['  trace:', ...trace.map((line) => `    ${line}`)]),
  ]
}

/** `gateway.yaml:41:9`, `GwPolicy shop/limits spec.traffic`. */
export function placeText(place: TestFailure['location'] | NonNullable<TestFailure['decidedAt']>): string {
  if ('file' in place) return `${place.file}:${place.line}:${place.column}`
  if ('variable' in place) return `environment variable ${place.variable}`
  return `${place.kind} ${place.namespace}/${place.name}${place.path === '' ? '' : ` ${place.path}`}`
}
