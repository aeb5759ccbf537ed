import { StandInSecrets } from '../capsule/stand-in-secrets.ts'
import { withCertificates } from '../capsule/stand-in-certificate.ts'
import { loadFeatures } from '../compile/load-features.ts'
import { failureText } from '../config-tests/failure-text.ts'
import { type LoadedTests, readTests } from '../config-tests/load-tests.ts'
import { runLoaded } from '../config-tests/run-tests.ts'
import { resourceLocations } from '../explain/resource-locations.ts'
import type { Ir } from '../ir/resources.ts'
import { printProblem } from '../sources/print-problems.ts'
import type { PolicyTestsJob, PolicyTestsResult, TestedGateway } from './policy-tests-job.ts'

/** Runs the tests of a policy against the config of each Gateway, and ends at the first one that fails. */
export async function runPolicyTests({ tests, location, gateways }: PolicyTestsJob): Promise<PolicyTestsResult> {
  const loaded = readTests(tests, location, { hasConfig: false })
  if (!loaded.ok) return { kind: 'invalid', message: loaded.problems.slice(0, 1).map(printProblem).join('') }
  const { gateway: only } = loaded.value
  const chosen = gateways.filter(({ gateway }) => only === null || gateway === only)
  if (chosen.length === 0) {
    return {
      kind: 'invalid',
      message: `${location}: the policy does not reach the Gateway ${only}, which the tests name`,
    }
  }
  for (const each of chosen) {
    const message = await failureAt(each, { loaded: loaded.value, text: tests })
    if (message !== null) return { kind: 'failed', message }
  }
  return { kind: 'passed', tests: loaded.value.tests.length, gateways: chosen.map(({ gateway }) => gateway) }
}

/** The first test that fails at a Gateway, and what differs; null when all pass. */
async function failureAt(
  { gateway, ir: secret, endpoints }: TestedGateway,
  { loaded, text }: { loaded: LoadedTests; text: string },
): Promise<string | null> {
  const secrets = new StandInSecrets()
  const ir = withCertificates(secrets.replaceIn(secret)) as Ir
  await loadFeatures(ir)
  const config = {
    ...{ ok: true as const, ir, warnings: [], endpoints: { ...endpoints, ...namedServices(ir) } },
    locate: resourceLocations(ir, gateway),
  }
  const run = await runLoaded(loaded, config, { filter: null })
  // A redacted text of the author would confirm a guessed secret.
  const clean = (message: string): string => (secrets.isIn(text) ? message : secrets.scrubText(message))
  if (!run.ok) return `at Gateway ${gateway}: ${clean(run.problems.join('; '))}`
  const failing = run.results.filter(({ failures }) => failures.length > 0)
  const [first] = failing
  if (first === undefined) return null
  const more = failing.length > 1 ? `; ${failing.length - 1} more of ${run.results.length} tests failed` : ''
  return `at Gateway ${gateway}: ${clean(failureText(first))}${more}`
}

/** Services have the address of their name, because the addresses of Pods are not those of the author of a test. */
function namedServices({ backends }: Ir): Record<string, string[]> {
  const services = backends.flatMap(({ key, target }): [string, string[]][] =>
    target.kind === 'service' ? [[key, [`${target.host}:${target.port}`]]] : [],
  )
  return Object.fromEntries(services)
}
