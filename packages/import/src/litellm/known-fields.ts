import type { Field } from '../core/yaml-field.ts'
import type { Sections } from './settings.ts'

/** Marks fields that have no effect on requests, or have no counterpart, so that the report says why. */
export function noteKnownFields(root: Field, { general, litellm, router }: Sections): void {
  for (const name of ['drop_params', 'modify_params']) {
    litellm?.get(name)?.carried('always on: the trace lists every field that a translation drops')
  }
  for (const name of ['set_verbose', 'debug', 'detailed_debug']) {
    for (const section of [litellm, general])
      section?.get(name)?.notCarried('set config.logging.level, or trace a request')
  }
  for (const name of ['success_callback', 'failure_callback', 'callbacks', 'service_callbacks']) {
    litellm
      ?.get(name)
      ?.notCarried('metrics, access logs and tracing replace callbacks: docs/logs-and-metrics.md, docs/tracing.md')
  }
  for (const name of ['database_url', 'store_model_in_db', 'store_prompts_in_spend_logs', 'disable_spend_logs']) {
    general?.get(name)?.notCarried('keys are in the config or in config.keys, spend in config.ledger; no database')
  }
  for (const name of PROTECTIONS)
    general?.get(name)?.notCarried('find the policy that replaces it: docs/policies/README.md', true)
  for (const name of [
    'max_end_user_budget',
    'max_user_budget',
    'default_end_user_params',
    'max_internal_user_budget',
  ]) {
    litellm?.get(name)?.notCarried('a budget policy with a key replaces it: docs/policies/traffic-budget.md', true)
  }
  for (const name of ['redis_host', 'redis_port', 'redis_password', 'redis_url', 'redis_db']) {
    router?.get(name)?.notCarried('gateways do not share cooldowns; config.stores.redis shares budgets and answers')
  }
  router?.get('enable_pre_call_checks')?.notCarried('fallback.contextLength handles prompts that are too long')
  for (const entry of root.get('model_list')?.items ?? []) noteEntry(entry)
  root
    .get('guardrails')
    ?.notCarried('prompts and answers pass unchecked until you configure guards: docs/prompt-guards.md', true)
  root.get('environment_variables')?.notCarried('set them in the environment of the gateway')
  root.get('mcp_servers')?.notCarried('write a route with an mcp backend: docs/mcp.md')
  root.get('include')?.notCarried('import the included files too, and merge the results')
  root.get('files_settings')?.notCarried('requests such as /v1/files go to the model with the name *')
  root.get('finetune_settings')?.notCarried('requests such as /v1/fine_tuning/jobs go to the model with the name *')
}

/** Fields of an entry of `model_list` that have no counterpart; those that are read later replace these notes. */
function noteEntry(entry: Field): void {
  const params = entry.get('litellm_params')
  for (const [name, note] of ENTRY_NOTES) params?.get(name)?.notCarried(note)
  for (const [name, field] of entry.get('model_info')?.members ?? []) {
    if (!['input_cost_per_token', 'output_cost_per_token', 'mode'].includes(name))
      field.notCarried('information that only LiteLLM reads')
  }
}

const ENTRY_NOTES = [
  ['organization', 'set the header openai-organization with a transformation policy of the model'],
  ['stream_timeout', 'http.requestTimeout of the model is for streams too'],
  ['max_retries', 'retries are a policy of the route'],
  ['num_retries', 'retries are a policy of the route'],
  ['tags', 'write `when` of a target: docs/model-routing.md'],
  ['guardrails', 'docs/prompt-guards.md'],
  ['use_in_pass_through', 'docs/model-routing.md, Other requests'],
] as const

/** Settings of access. */
const PROTECTIONS = [
  ...['custom_auth', 'enable_jwt_auth', 'litellm_jwtauth', 'allowed_ips', 'allowed_routes', 'max_request_size_mb'],
  ...[
    'max_parallel_requests',
    'global_max_parallel_requests',
    'enforce_user_param',
    'public_routes',
    'admin_only_routes',
  ],
]
