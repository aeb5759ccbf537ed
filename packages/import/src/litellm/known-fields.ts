import type { Field } from '../core/yaml-field.ts'
import type { Sections } from './settings.ts'

/** Marks fields that have no effect on requests, or have no counterpart, so that the report says why. */
export function noteKnownFields(root: Field, { general, litellm, router }: Sections): void {
  for (const name of ['drop_params', 'modify_params']) {
    litellm?.get(name)?.carried('the gateway always drops unsupported fields; the trace lists the dropped fields')
  }
  for (const name of ['set_verbose', 'debug', 'detailed_debug']) {
    for (const section of [litellm, general])
      section?.get(name)?.notCarried('configure config.logging.level, or trace a request')
  }
  for (const name of ['success_callback', 'failure_callback', 'callbacks', 'service_callbacks']) {
    litellm
      ?.get(name)
      ?.notCarried(
        'the gateway has metrics, access logs and tracing instead of callbacks: docs/logs-and-metrics.md, docs/tracing.md',
      )
  }
  for (const name of ['database_url', 'store_model_in_db', 'store_prompts_in_spend_logs', 'disable_spend_logs']) {
    general
      ?.get(name)
      ?.notCarried(
        'the gateway has no database; it keeps keys in the config or config.keys, and spend in config.ledger',
      )
  }
  for (const name of PROTECTIONS)
    general?.get(name)?.notCarried('find a policy that replaces this setting: docs/policies/README.md', true)
  for (const name of [
    'max_end_user_budget',
    'max_user_budget',
    'default_end_user_params',
    'max_internal_user_budget',
  ]) {
    litellm?.get(name)?.notCarried('configure a budget policy with a key: docs/policies/traffic-budget.md', true)
  }
  for (const name of ['redis_host', 'redis_port', 'redis_password', 'redis_url', 'redis_db']) {
    router
      ?.get(name)
      ?.notCarried(
        'replicas of the gateway do not share cooldowns; config.stores.redis shares budgets and cached responses',
      )
  }
  router?.get('enable_pre_call_checks')?.notCarried('configure fallback.contextLength for prompts that are too long')
  for (const entry of root.get('model_list')?.items ?? []) noteEntry(entry)
  root
    .get('guardrails')
    ?.notCarried(
      'the gateway does not check prompts and responses until you configure guards: docs/prompt-guards.md',
      true,
    )
  root.get('environment_variables')?.notCarried('set these variables in the environment of the gateway')
  root.get('mcp_servers')?.notCarried('configure a route with an mcp backend: docs/mcp.md')
  root
    .get('include')
    ?.notCarried('the importer does not read included files; import them separately, and merge the results')
  root.get('files_settings')?.notCarried('the gateway sends requests such as /v1/files to the model named *')
  root
    .get('finetune_settings')
    ?.notCarried('the gateway sends requests such as /v1/fine_tuning/jobs to the model named *')
}

/** Fields of an entry of `model_list` that have no counterpart; those that are read later replace these notes. */
function noteEntry(entry: Field): void {
  const params = entry.get('litellm_params')
  for (const [name, note] of ENTRY_NOTES) params?.get(name)?.notCarried(note)
  for (const [name, field] of entry.get('model_info')?.members ?? []) {
    if (!['input_cost_per_token', 'output_cost_per_token', 'mode'].includes(name))
      field.notCarried('only LiteLLM reads this information')
  }
}

const ENTRY_NOTES = [
  ['organization', 'set the header openai-organization with a transformation policy of the model'],
  ['stream_timeout', 'http.requestTimeout of the model also applies to streams'],
  ['max_retries', 'configure retries in a policy of the route'],
  ['num_retries', 'configure retries in a policy of the route'],
  ['tags', 'configure `when` of a target: docs/model-routing.md'],
  ['guardrails', 'configure guards: docs/prompt-guards.md'],
  ['use_in_pass_through', 'configure pass-through requests: docs/model-routing.md, Other requests'],
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
