import { otlpLog, requestTracing } from './load-features.ts'
import type { ExportEnv } from '../pipeline/callouts/otlp-delivery.ts'
import type { ExportServices } from '../pipeline/callouts/otlp-exporter.ts'
import { type Containment, makeOptional } from '../pipeline/compiled/containment.ts'
import type { Env } from '../pipeline/context/step.ts'
import type { TraceServices } from '../pipeline/context/trace.ts'
import { connectionScope, malformedScope, requestScope } from '../pipeline/run/log-scope.ts'
import type { RunTelemetry, RunTelemetryParts, Tracer } from '../pipeline/run/run-services.ts'
import { watch } from '../pipeline/run/run-watch.ts'
import type { ScopeServices } from '../pipeline/views/scope.ts'
import { accessLogEdit } from '../policies/frontend/access-log/edit.ts'
import { keptBodies } from '../policies/frontend/recorder/kept-bodies.ts'
import { requestIdentifiers } from '../policies/frontend/request-id/request-ids.ts'
import type { FrontendPolicies } from '../policies/index.ts'
import { RequestTelemetry } from '../telemetry/request-telemetry.ts'

export interface TelemetryServices extends ExportServices, ScopeServices, TraceServices {
  accessLog: RunTelemetryParts['accessLog']
  recorder: RunTelemetryParts['recorder']
  callTimer: RunTelemetryParts['callTimer']
  countActive: RunTelemetryParts['countActive']
  tracer: Tracer
  containment: Containment
}

/** Compiles the telemetry of the whole gateway; a part that cannot be compiled is left out. */
export function compileTelemetry(
  frontend: FrontendPolicies,
  env: ExportEnv & Pick<Env, 'cel'>,
  services: TelemetryServices,
): RunTelemetry {
  const { accessLog, forwardedHeaders, metrics, recorder, requestId, tracing } = frontend
  const { containment, tracer } = services
  const edit = accessLogEdit(accessLog)
  const exported = accessLog?.otlp === undefined ? undefined : accessLog
  const isScopeRead = edit !== null || metrics?.attributes !== undefined || recorder?.sampling !== undefined
  const bodies = recorder?.enabled === true ? recorder.bodies : undefined
  return new RequestTelemetry({
    accessLog: services.accessLog,
    recorder: services.recorder,
    callTimer: services.callTimer,
    countActive: services.countActive,
    edit,
    exportLog: makeOptional(containment, exported, (config) => otlpLog(config, env, services)),
    scopes: isScopeRead ? createScopes(services) : null,
    watchers: tracer,
    watch: (rx) => watch(rx, services),
    spans: makeOptional(containment, tracing, (config) => requestTracing(config, env, services)),
    requestIds: requestIdentifiers(requestId, forwardedHeaders, services.recorder),
    bodies: bodies === undefined ? null : keptBodies(env.cel(bodies.when, 'request'), bodies.maxSize),
  })
}

function createScopes(services: ScopeServices): NonNullable<RunTelemetryParts['scopes']> {
  return {
    request: (rx) => requestScope(rx, services),
    connection: (run) => connectionScope(run, services),
    malformed: (info, status) => malformedScope({ info, status }, services),
  }
}
