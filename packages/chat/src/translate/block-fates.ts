import type { ClientFormatName } from '../request/request-members.ts'

/**
 * The treatment of a block type when the provider speaks another format. The lists follow the types of the installed
 * SDKs, and a test fails when an SDK knows a type that no list has. A type that is in no list is refused.
 */
export type BlockFate =
  /** The other format can express the block, or its text. */
  | 'carried'
  /** Bookkeeping of tools that the provider ran itself; the trace lists the block as a loss. */
  | 'lossy'
  /** Without the block the conversation would have another meaning. */
  | 'refused'

const MESSAGES: Readonly<Record<string, BlockFate>> = {
  text: 'carried',
  image: 'carried',
  document: 'carried',
  search_result: 'carried',
  thinking: 'carried',
  redacted_thinking: 'carried',
  tool_use: 'carried',
  tool_result: 'carried',
  compaction: 'carried',
  mcp_tool_use: 'carried',
  mcp_tool_result: 'carried',
  server_tool_use: 'lossy',
  web_search_tool_result: 'lossy',
  web_fetch_tool_result: 'carried',
  advisor_tool_result: 'carried',
  code_execution_tool_result: 'carried',
  bash_code_execution_tool_result: 'carried',
  text_editor_code_execution_tool_result: 'carried',
  tool_search_tool_result: 'lossy',
  mcp_tool_listing: 'lossy',
  fallback: 'lossy',
  container_upload: 'refused',
  tool_addition: 'refused',
  tool_removal: 'refused',
  // Inside the result of a tool.
  tool_reference: 'lossy',
  browser_state: 'carried',
}

const COMPLETIONS: Readonly<Record<string, BlockFate>> = {
  text: 'carried',
  refusal: 'carried',
  image_url: 'carried',
  input_audio: 'carried',
  file: 'carried',
}

const RESPONSES: Readonly<Record<string, BlockFate>> = {
  message: 'carried',
  text: 'carried',
  input_text: 'carried',
  output_text: 'carried',
  refusal: 'carried',
  input_image: 'carried',
  input_file: 'carried',
  input_audio: 'carried',
  function_call: 'carried',
  function_call_output: 'carried',
  custom_tool_call: 'carried',
  custom_tool_call_output: 'carried',
  reasoning: 'carried',
  mcp_call: 'carried',
  shell_call: 'carried',
  shell_call_output: 'carried',
  local_shell_call: 'carried',
  local_shell_call_output: 'carried',
  apply_patch_call: 'carried',
  apply_patch_call_output: 'carried',
  code_interpreter_call: 'carried',
  program_output: 'carried',
  file_search_call: 'carried',
  web_search_call: 'lossy',
  computer_call: 'lossy',
  computer_call_output: 'lossy',
  tool_search_call: 'lossy',
  tool_search_output: 'lossy',
  image_generation_call: 'lossy',
  mcp_list_tools: 'lossy',
  mcp_approval_request: 'lossy',
  mcp_approval_response: 'lossy',
  program: 'lossy',
  compaction_trigger: 'lossy',
  configuration_update: 'lossy',
  additional_tools: 'refused',
  compaction: 'refused',
  item_reference: 'refused',
}

/** The members of a part that say what it is. */
const GEMINI: Readonly<Record<string, BlockFate>> = {
  text: 'carried',
  inlineData: 'carried',
  fileData: 'carried',
  functionCall: 'carried',
  functionResponse: 'carried',
  executableCode: 'carried',
  codeExecutionResult: 'carried',
  audioTranscription: 'carried',
  toolCall: 'lossy',
  toolResponse: 'carried',
}

export const blockFates: Readonly<Record<ClientFormatName, Readonly<Record<string, BlockFate>>>> = {
  completions: COMPLETIONS,
  messages: MESSAGES,
  responses: RESPONSES,
  gemini: GEMINI,
}
