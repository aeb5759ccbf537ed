import type { ConfigSource } from '../../admin/config-api.ts'
import type { QuestionSource } from '../../admin/questions-api.ts'
import { redact } from '../../redaction/redact.ts'
import type { RequestsSource } from '../../admin/requests.ts'
import type { ServersOptions } from '../../admin/servers.ts'
import type { RehearsalSource } from '../../admin/rehearsal/rehearsal-api.ts'
import type { ConfigVerifier } from '../verify/config-verifier.ts'
import type { Ir } from '../../ir/resources.ts'
import type { Keys } from '../../keys/keys.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { ProxyIdentity } from '../../pipeline/context/proxy-identity.ts'
import type { ProcessConfig } from '../../sources/config/schema.ts'
import { firstProblems } from '../../sources/print-problems.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { MetricHistory } from '../../telemetry/history/metric-history.ts'
import type { RequestRecord, VerificationView } from '../../telemetry/recorder/record.ts'
import type { Collector } from '../../telemetry/metrics/metrics-collect.ts'
import { VERSION } from '../../version.ts'
import { BacktestRunner } from '../simulations/backtest-runner.ts'
import { CapsuleRunner } from '../simulations/capsule-runner.ts'
import { SimulationRunner } from '../simulations/simulation-runner.ts'
import { viewBackends } from '../admin/backends-view.ts'
import type { ConfigEditor } from '../config-edit/config-editor.ts'
import type { EditToken } from '../config-edit/edit-token.ts'
import { createCacheSource } from '../admin/cache-source.ts'
import { viewConfig } from '../admin/config-view.ts'
import type { ControlledGateway } from '../controller/controlled-gateway.ts'
import { findReachableListener } from '../admin/reachable-listener.ts'
import type { Gateway } from '../config/gateway.ts'
import type { TextInMemory } from '../config/config-text-store.ts'
import type { GenerationHistory } from '../config/config-history.ts'
import type { KeptRecords } from '../telemetry/kept-records.ts'
import { EndpointStates } from '../admin/endpoint-states.ts'
import { createMetricsSource } from '../admin/metrics-source.ts'
import { createQuestionSource } from '../admin/question-source.ts'
import type { KeysSource } from '../../admin/keys/keys-routes.ts'
import { createRequestsSource, type ExplainedParts, type RequestSourceParts } from '../admin/request-source.ts'
import { viewRoutes } from '../admin/routes-view.ts'
import type { Supervisor } from '../workers/supervisor.ts'
import { targetErrors } from '../admin/target-errors.ts'
import { createTraceSource } from '../admin/trace-source.ts'

/** The parts of the program that the admin API reads or sets. */
interface AdminParts extends Pick<ServersOptions, 'logFilter' | 'setLogFilter' | 'quit' | 'pages' | 'credentials'> {
  settings: ProcessConfig
  /** The path of the config file; empty without one. */
  path: string
  /** The text of a config without a file. */
  memory: TextInMemory | null
  identity: ProxyIdentity
  gateway: Gateway
  supervisor: Supervisor
  collector: Collector
  history: MetricHistory
  configs: GenerationHistory
  kept: KeptRecords
  /** Null without `config.ledger`. */
  ledger: Ledger | null
  /** Null without `config.keys`. */
  keys: Keys | null
  keysSource: KeysSource | null
  rehearsals: RehearsalSource
  verifier: Pick<ConfigVerifier, 'last'>
  log: Logger
  editor: ConfigEditor
  /** Null when the config cannot be changed through the admin API. */
  editToken: EditToken | null
  /** Null when the gateway has no controller. */
  controlled: () => ControlledGateway | null
  isDraining: () => boolean
  /** In milliseconds since 1970. */
  startedAt: number
}

const NOTHING: Ir = { binds: [], listeners: [], routes: [], backends: [], policies: [] }

/** `wireAdminServers` connects the admin, metrics and readiness servers with the program. */
export function wireAdminServers(parts: AdminParts): ServersOptions {
  const { settings, gateway, supervisor, collector, controlled, isDraining } = parts
  const { logFilter, setLogFilter, quit, pages } = parts
  const state = stateOf(parts)
  const requests = createRequestsSource({
    store: supervisor.records,
    disk: () => parts.kept.disk,
    identity: parts.identity,
    currentIr: () => gateway.ir,
    state,
    explained: (record) => explained(record, parts),
  })
  const simulations = new SimulationRunner()
  return {
    addresses: { admin: settings.adminAddr, stats: settings.statsAddr, readiness: settings.readinessAddr },
    credentials: parts.credentials,
    editToken: parts.editToken?.token ?? null,
    metrics: (form) => collector.render(form),
    readiness: () => ({
      draining: isDraining(),
      pending: pending(gateway, supervisor, controlled()),
      note: unverifiedNote(gateway, parts.verifier),
    }),
    silentWorkers: () => supervisor.silentWorkers(ALIVE_MS),
    configDump: () => redact(configDump(parts)),
    logFilter,
    setLogFilter,
    trace: createTraceSource(supervisor.traces, () => gateway.ir),
    requests,
    config: configSource(parts, state),
    backtests: new BacktestRunner({ simulations, editor: parts.editor, gateway, requests, log: parts.log }),
    capsules: new CapsuleRunner({
      simulations,
      requests,
      configOf: (record) => configOf(record, parts),
      log: parts.log,
    }),
    questions: questionsAbout(parts, requests),
    history: createMetricsSource(parts.history, supervisor.records),
    usage: parts.ledger,
    keys: parts.keysSource,
    caches: createCacheSource({ workers: supervisor, keys: parts.keysSource, log: parts.log }),
    rehearsals: parts.rehearsals,
    quit,
    pages,
  }
}

type State = RequestSourceParts['state']

function stateOf({ gateway, supervisor, path, isDraining, startedAt, keys, ledger, verifier }: AdminParts): State {
  return () => ({
    version: VERSION,
    generation: gateway.generation,
    since: gateway.since,
    startedAt,
    source: path,
    problems: firstProblems(gateway.problems).map((problem) => ({ text: String(redact(problem)) })),
    verification: verifier.last === null ? null : (redact(verifier.last) as VerificationView),
    workers: supervisor.size,
    restarts: supervisor.restarts,
    isDraining: isDraining(),
    keyStore: keys?.state ?? null,
    ledgerStore: ledger?.state ?? null,
  })
}

/** The config that decided a request. Another generation is never used in its place, because it may differ. */
function explained(
  { id, generation }: RequestRecord,
  { gateway, configs, controlled, supervisor }: AdminParts,
): ExplainedParts {
  const { generation: live, ir } = gateway
  const isEarlier = !supervisor.records.isOwn(id)
  const unknown = { isKnown: false, isEarlier, live, ir: NOTHING, locate: null }
  if (isEarlier) return unknown
  const written = controlled() === null ? configs.find(generation) : null
  const found = written ?? configs.findWithoutText(generation)
  if (found !== null) return { isKnown: true, isEarlier, live, ...found }
  return generation === live && ir !== null ? { isKnown: true, isEarlier, live, ir, locate: null } : unknown
}

/** The note in the readiness response when a newer config was rejected because of its verification; empty otherwise. */
function unverifiedNote({ generation }: Gateway, { last }: Pick<ConfigVerifier, 'last'>): string {
  if (last === null || last.isVerified) return ''
  const [first] = last.failed
  const why = first === undefined ? 'it was not verified' : `the test ${JSON.stringify(first.test)} failed`
  return `config ${generation} stays active: a newer one was rejected, because ${why}`
}

function configOf(record: RequestRecord, parts: AdminParts): Ir | null {
  const { isKnown, ir } = explained(record, parts)
  return isKnown ? ir : null
}

/** The conditions that readiness waits for. */
function pending(gateway: Gateway, supervisor: Supervisor, controlled: ControlledGateway | null): string[] {
  if (gateway.generation === 0) return ['config']
  const unserved = supervisor.isListening ? [] : ['a worker that listens']
  return controlled?.isLive === false ? [...unserved, 'controller'] : unserved
}

/** A worker that handles no message in this time is stuck; a long garbage collection takes a fraction of it. */
const ALIVE_MS = 5_000

function configDump({ gateway, settings, controlled }: AdminParts): object {
  const controller = controlled()
  return {
    version: VERSION,
    generation: gateway.generation,
    config: settings,
    ...(controller !== null && { controller: controller.describe() }),
    ...gateway.ir,
  }
}

function configSource(parts: AdminParts, state: State): ConfigSource {
  const { gateway, supervisor, editor, editToken, path, memory } = parts
  const ir = (): Ir => gateway.ir ?? NOTHING
  return {
    routes: () => viewRoutes(ir(), gateway.generation, gateway.ports),
    findListener: (bind, listener) => findReachableListener(ir(), gateway.ports, bind, listener),
    backends: async () => {
      const endpoints = new EndpointStates(await supervisor.endpoints(), Date.now())
      const errorOf = targetErrors(ir(), supervisor.records)
      return viewBackends(ir(), gateway.generation, { endpoints, errorOf })
    },
    config: () => {
      const { generation, since, problems } = state()
      const { closed } = editor
      return viewConfig({
        ...{ generation, since, file: path, memory },
        problems: problems.map(({ text }) => text),
        edit: { isAllowed: closed === null, reason: closed, token: editToken?.from ?? 'variable' },
        versionOf: (text) => editor.versionOf(text),
      })
    },
    edits: editor,
  }
}

function questionsAbout({ gateway, identity }: AdminParts, requests: RequestsSource): QuestionSource {
  return createQuestionSource({
    live: () => ({ ir: gateway.ir ?? NOTHING, generation: gateway.generation, ports: gateway.ports }),
    record: (id) => requests.get(id),
    identity,
  })
}
