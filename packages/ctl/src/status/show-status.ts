import { printProblem, translateManifests } from '@portico/gateway/manifests'
import { keyOf } from '@portico/translate'
import { stringify } from 'yaml'
import { openCluster } from '../cluster/cluster.ts'
import { nearNames } from '../cluster/near-names.ts'
import { type ClusterArguments, contextsIn } from '../cluster/options.ts'
import { ClusterProblem } from '../cluster/problem.ts'
import { exitCode, type Io } from '../io.ts'
import { printable, printableBlock } from '../printable.ts'
import type { StatusTarget } from './target.ts'
import { diagnose, diagnoseAll, type Finding } from './diagnose.ts'
import { gather } from './gather.ts'
import { printFinding, printShort } from './print.ts'
import { ResourceView } from './resource-view.ts'

interface StatusRequest extends ClusterArguments {
  /** The resource, or null for all of the namespace. */
  readonly asked: StatusTarget | null
  /** Manifests to read in place of a cluster. */
  readonly file: string | null
  readonly form: 'text' | 'yaml' | 'json'
}

/** The findings in one cluster, or why it could not be checked. */
type Diagnosis = { findings: Finding[] } | { problem: string }

/** Prints the diagnosis; returns the exit code. */
export async function showStatus(request: StatusRequest, io: Io): Promise<number> {
  // A reader such as `head` may close the pipe.
  io.stdout.on('error', () => {})
  const contexts = request.file === null && request.context !== null ? contextsIn(request.context) : []
  if (contexts.length > 1) return showContexts(contexts, request, io)
  const diagnosis = await diagnosisOf(request, io)
  if ('problem' in diagnosis) io.stderr.write(`porticoctl: ${printableBlock(diagnosis.problem)}\n`)
  else write(diagnosis, printFindings(diagnosis.findings, request), request, io)
  return isFine(diagnosis) ? exitCode.fine : exitCode.failed
}

/** Diagnoses several clusters at once. One that cannot be checked does not stop the others. */
async function showContexts(contexts: readonly string[], request: StatusRequest, io: Io): Promise<number> {
  const diagnoses = await Promise.all(
    contexts.map(async (context) => ({ context, ...(await diagnosisOf({ ...request, context }, io)) })),
  )
  const lines = diagnoses.flatMap((each, index) => [
    ...(index === 0 ? [] : ['']),
    `context ${each.context}${'problem' in each ? ': cannot be checked' : ''}`,
    ...('problem' in each
      ? each.problem.split('\n').map((line) => `  ${line}`)
      : printFindings(each.findings, request)),
  ])
  write({ contexts: diagnoses }, lines, request, io)
  return diagnoses.every(isFine) ? exitCode.fine : exitCode.failed
}

async function diagnosisOf(request: StatusRequest, io: Io): Promise<Diagnosis> {
  try {
    const { world, namespace } = await worldOf(request, io)
    const findings = request.asked === null ? diagnoseAll(world, namespace) : [find(world, request.asked, namespace)]
    if (findings.length > 0) return { findings }
    return {
      problem: `there are no Gateway API resources in ${namespace === null ? 'these files' : `namespace ${namespace}`}`,
    }
  } catch (error) {
    if (!(error instanceof ClusterProblem)) throw error
    return { problem: error.message }
  }
}

function isFine(diagnosis: Diagnosis): boolean {
  return 'findings' in diagnosis && diagnosis.findings.every(({ broken }) => broken === null)
}

async function worldOf(request: StatusRequest, io: Io): Promise<{ world: ResourceView; namespace: string | null }> {
  if (request.file !== null) return { world: await worldOfFiles(request.file), namespace: request.namespace }
  const cluster = openCluster(request, io.env)
  try {
    const withRoutesOfAll = ['Gateway', 'ListenerSet', 'XListenerSet'].includes(request.asked?.kind ?? '')
    return { world: await gather(cluster, { withRoutesOfAll }), namespace: cluster.namespace }
  } finally {
    cluster.close()
  }
}

/** Translates files; the statuses are those that a controller would write. */
async function worldOfFiles(file: string): Promise<ResourceView> {
  let made: Awaited<ReturnType<typeof translateManifests>>
  try {
    made = await translateManifests(file)
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new ClusterProblem(`${file}: cannot be read: ${error.message}`, { cause: error })
  }
  if (!made.ok) throw new ClusterProblem(made.problems.map(printProblem).join('\n'))
  const { statuses } = made.translated
  return new ResourceView({
    resources: made.resources,
    statusOf: (kind, resource) => statuses.get(`${kind}/${keyOf(resource)}`),
    isOffline: true,
  })
}

/** Finds the resource; in files without a namespace, the only one of that name. */
function find(world: ResourceView, { kind, name }: StatusTarget, namespace: string | null): Finding {
  const found = world.list(kind, namespace ?? undefined).filter(({ metadata }) => metadata.name === name)
  const [only, other] = found
  if (only !== undefined && other === undefined) return diagnose(world, kind, only)
  if (other !== undefined) throw new ClusterProblem(`there are several: ${found.map(keyOf).join(', ')}; choose by -n`)
  const right = namespace === null ? undefined : world.hiddenBy(kind, `${namespace}/${name}`)
  if (right !== undefined) throw new ClusterProblem(`no right to ${right}`)
  const near = nearNames(
    name,
    world.list(kind, namespace ?? undefined).map(({ metadata }) => metadata.name),
  )
  const hint = near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`
  throw new ClusterProblem(
    `there is no ${kind} ${name}${namespace === null ? '' : ` in namespace ${namespace}`}${hint}`,
  )
}

function printFindings(findings: readonly Finding[], { asked }: StatusRequest): string[] {
  return findings.flatMap(asked === null ? printShort : printFinding)
}

function write(value: object, lines: readonly string[], { form }: StatusRequest, io: Io): void {
  const text =
    form === 'json'
      ? `${JSON.stringify(value, null, 2)}\n`
      : form === 'yaml'
        ? stringify(value, { lineWidth: 120, aliasDuplicateObjects: false })
        : lines.map((line) => `${printable(line)}\n`).join('')
  io.stdout.write(form !== 'text' && io.stdout.isTTY ? printableBlock(text) : text)
}
