import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

import type * as zod from 'zod'

import { LoopchartError } from '../errors.ts'
import { describeIssue } from '../loop/describe-issue.ts'
import { parseJson } from '../protocol/json.ts'
import { z } from './load-zod.ts'

const count = z.int().min(1)

/** What may be limited, and to what numbers. */
export const limitsShape = z
  .strictObject({ turns: count, tool_calls: z.int().min(0), tokens: count, ms: count })
  .partial()

/** What a million tokens cost. */
const pricesShape = z.strictObject({
  input: z.number().min(0),
  cached: z.number().min(0).optional().describe('For input that the provider had in its cache.'),
  output: z.number().min(0),
})

/** A rule about calls of tools, as a file has it. */
export const policyRuleShape = z.strictObject({
  decision: z.enum(['deny', 'ask', 'allow']),
  tool: z.string().min(1).describe('The name of a tool; * for every tool.'),
  path: z.string().min(1).optional().describe('Only calls about paths that this glob covers.'),
  access: z.enum(['read', 'write']).optional().describe('With path: only calls that use it so.'),
  argv: z.array(z.string()).min(1).optional().describe('Only this very command, argument by argument.'),
})

/** Everything that can be set. A file has it in this form; what flags and the environment say is put into it. */
export const configShape = z
  .strictObject({
    $schema: z.string(),
    base_url: z.url({ protocol: /^https?$/u, error: 'must be an http or https address' }),
    model: z.string().min(1),
    api_key_file: z.string().min(1).describe('A file that holds the key; the key itself has no place here.'),
    limits: limitsShape,
    continuity: z.enum(['previous_response_id', 'stateless', 'auto']),
    stream: z.boolean(),
    approve: z.enum(['ask', 'all', 'none']),
    tools: z.enum(['builtin', 'none']).describe('Whether the model gets the built-in tools.'),
    auto_edit: z.boolean().describe('Whether plain files of the workspace are changed without asking.'),
    allow_unsandboxed: z
      .boolean()
      .describe('Whether a yes for all calls covers commands that run without a sandbox.'),
    policy: z
      .array(policyRuleShape)
      .describe('What the built-in tools may do: deny before ask before allow.'),
    retries: z.int().min(0).max(20).describe('How often one request may be sent again.'),
    max_output_tokens: z.int().min(16),
    context_window: z
      .int()
      .min(512)
      .describe('How many tokens the model takes: what is sent is kept well within it.'),
    reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']),
    reasoning_summary: z.enum(['concise', 'detailed', 'auto']),
    verbosity: z.enum(['low', 'medium', 'high']),
    store_responses: z.boolean().describe('Whether the provider keeps responses.'),
    encrypted_reasoning: z.boolean(),
    store: z.string().min(1).describe('The file that runs are kept in.'),
    prices: pricesShape.describe('What a million tokens cost, in any one currency.'),
    budget: z
      .strictObject({ tokens: count, cost: z.number().positive() })
      .partial()
      .describe('What a whole conversation may use up.'),
    cross_run_cursor: z
      .boolean()
      .describe(
        "Whether a message of a conversation goes on from the provider's own memory of the last one.",
      ),
    compact_way: z
      .enum(['rules', 'model', 'provider'])
      .describe('Who writes the summary when a conversation becomes too long.'),
    log_level: z.enum(['silent', 'error', 'warn', 'info', 'debug', 'trace']),
    log_file: z.string().min(1),
  })
  .partial()
  .meta({
    title: 'loopchart config',
    description: 'What loopchart takes when no flag and no variable says otherwise.',
  })

export type Config = Readonly<zod.output<typeof configShape>>

/** What is wrong with what was set, with the bounds that numbers have. */
export function describeConfigFault(error: zod.ZodError): string {
  return describeIssue(error, () => z.toJSONSchema(configShape))
}

/** Where the file of this user is, or would be. */
export function configPath(env: Readonly<NodeJS.ProcessEnv>): string {
  const home = env['XDG_CONFIG_HOME']
  // An XDG path that is not absolute is to be ignored, says that specification.
  const base = home?.startsWith('/') === true ? home : join(homedir(), '.config')
  return join(base, 'loopchart', 'config.json')
}

/** Reads the file; nothing when there is none. Throws `config_invalid`, naming file and field. */
export async function readConfigFile(path: string): Promise<Config> {
  const text = await readIfThere(path)
  if (text === null) return {}
  const parsed = configShape.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  const complaint = parseJson(text) === undefined ? 'it is not JSON' : describeConfigFault(parsed.error)
  throw new LoopchartError('config_invalid', `${path}: ${complaint}; correct the file`)
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    // Some editors begin a file with a mark that is not JSON.
    return (await readFile(path, 'utf8')).replace(/^\uFEFF/u, '')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR'))
      return null
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new LoopchartError('file_unreadable', `cannot read ${path}: ${reason}`, { cause })
  }
}
