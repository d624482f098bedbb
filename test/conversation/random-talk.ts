import { conversation } from '../../src/conversation/conversation.ts'
import type { Conversation, ConversationTurn, TurnResult } from '../../src/conversation/conversation-api.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { Agent } from '../../src/loop/agent.ts'
import type { Run } from '../../src/loop/run.ts'
import { Random } from '../simulation/random.ts'
import { randomSettings, type RandomCase, type RandomSettings } from './random-agent.ts'
import { checkFold, checkToldAll, checkUsage } from './random-checks.ts'
import { startRandomProvider, type RandomProvider } from './random-provider.ts'

/** What a random conversation came to. */
export interface RandomTalk {
  readonly provider: RandomProvider
  /** What is wrong, in the order in which it was found. */
  readonly faults: readonly string[]
  /** How often each thing happened, to see that it did. */
  readonly happened: Readonly<Record<string, number>>
  readonly runIds: readonly string[]
}

/** Has so many turns with a provider of the seed's, in the store of that path, and looks after each what is wrong. */
export async function talkAtRandom(of: RandomCase, path: string, turns: number): Promise<RandomTalk> {
  const settings = randomSettings(of)
  const isSealed = settings.isUnstored || of.seed % 2 === 0
  const provider = await startRandomProvider({ seed: of.seed, isSealed })
  const talker = new Talker(of, settings, provider, path)
  for (let turn = 0; turn < turns; turn += 1) await talker.turn(turn)
  return { provider, ...(await talker.end()) }
}

/** Somebody who says things, changes their mind, and turns the machine off now and then. */
class Talker {
  readonly #random: Random
  readonly #settings: RandomSettings
  readonly #provider: RandomProvider
  readonly #path: string
  readonly #agent: Agent
  readonly #isForgetting: boolean
  readonly #faults: string[] = []
  readonly #happened: Record<string, number> = {}
  readonly #runIds: string[] = []
  /** The marks of all that was said, by either side. */
  readonly #said: string[] = []
  /** The marks of what was said to the run that is not over. */
  readonly #steered: string[] = []
  #talk: Conversation
  #messages = 0
  #isClosed = false

  constructor(
    { seed, continuity }: RandomCase,
    settings: RandomSettings,
    provider: RandomProvider,
    path: string,
  ) {
    this.#random = new Random(seed * 31 + 5)
    this.#settings = settings
    this.#provider = provider
    this.#path = path
    this.#agent = settings.agent(provider)
    this.#isForgetting = continuity === 'cursor'
    this.#talk = this.#open()
  }

  async turn(number: number): Promise<void> {
    const random = this.#random
    if (random.chance(0.08)) await this.#restart()
    if (this.#talk.state === 'open') await this.#closeOpenRun()
    if (random.chance(0.06)) await this.#compact()
    if (this.#isForgetting && random.chance(0.05)) {
      this.#provider.forget()
      this.#count('forgotten')
    }
    const sent = Array.from({ length: random.chance(0.04) ? 2 : 1 }, () => this.#send(number))
    for (const one of sent) await this.#hear(one)
    if (this.#isClosed) await this.#restart()
  }

  async end(): Promise<Omit<RandomTalk, 'provider'>> {
    this.#provider.calm()
    if (this.#talk.state === 'open') await this.#closeOpenRun()
    const asked = { mark: '[end]', from: this.#provider.told, said: [...this.#said] }
    const last = await this.#talk.send('[end] What is left of it?')
    if (last.status !== 'ended' || last.state !== 'done') {
      this.#faults.push(`the last turn came to ${JSON.stringify(last)}`)
    }
    this.#checkTold(asked)
    await this.#restart()
    this.#faults.push(...checkUsage(this.#path, this.#talk))
    await this.#talk.close()
    const happened = { ...this.#happened, lost: this.#provider.lost }
    return { faults: this.#faults, happened, runIds: this.#runIds }
  }

  #open(): Conversation {
    const options = this.#settings.conversation(this.#provider)
    return conversation(this.#agent, { ...options, id: 'talk', store: this.#path })
  }

  async #restart(): Promise<void> {
    await this.#talk.close()
    this.#isClosed = false
    this.#count('restarted')
    const { entries, usage, state } = this.#talk
    this.#talk = this.#open()
    this.#faults.push(...checkFold(this.#path, { entries, usage, state }, this.#talk))
  }

  async #compact(): Promise<void> {
    const way = this.#random.pick(['rules', 'model', 'provider'] as const)
    const result = await this.#talk.compact({ way })
    this.#count(`compacted ${result.status === 'compacted' ? result.way : 'not'}`)
  }

  #send(number: number): SentMessage {
    const mark = `[m${this.#messages}]`
    this.#messages += 1
    const from = this.#provider.told
    return { mark, from, said: [...this.#said], turn: this.#talk.send(`${mark} What of ${number}?`) }
  }

  async #hear(sent: SentMessage): Promise<void> {
    const { mark, turn } = sent
    const result = await this.#follow(turn)
    if (result.status === 'refused') return
    this.#said.push(mark)
    // Where others wait, not every request from then on is about this message.
    if (turn.receipt.ahead === 0) this.#checkTold(sent)
  }

  /** All that was said before must be told. */
  #checkTold({ mark, from, said }: Omit<SentMessage, 'turn'>): void {
    const { entries } = this.#talk
    const read = this.#provider.readFrom(from)
    if (read === null) return
    this.#count(`${read.isContinued ? 'continued' : 'whole'}${read.isShortened ? ', shortened' : ''}`)
    const faults = checkToldAll(read, { entries, said, mark })
    this.#faults.push(...faults.map((fault) => `${mark}: ${fault}`))
  }

  async #closeOpenRun(): Promise<void> {
    if (this.#random.chance(0.3)) {
      if (!(await this.#talk.abandon())) this.#faults.push('there was nothing to abandon')
      this.#settleSteers()
      this.#count('abandoned')
      return
    }
    const result = await this.#follow(this.#talk.resume())
    this.#count(`resumed ${result.status}`)
    if (this.#isClosed) await this.#restart()
    if (this.#talk.state === 'open') await this.#closeOpenRun()
  }

  /** Reads along, and acts where the dice say so. */
  async #follow(turn: ConversationTurn): Promise<TurnResult> {
    const plan = this.#plan()
    let seen = 0
    for await (const run of turn.runs()) {
      this.#runIds.push(run.id)
      for await (const frame of run) {
        seen += 1
        if (frame.type === 'history_compacted')
          this.#count(`run compacted ${JSON.stringify(frame.figures['way'])}`)
        await this.#answer(run, frame)
        if (seen === plan.at) await this.#act(plan.act, turn, run)
      }
    }
    const result = await turn
    const how = result.status === 'refused' ? result.reason : result.state.split('.').at(-1)
    this.#count(`${result.status} ${how}`)
    if (result.status === 'ended') this.#settleSteers()
    if (result.status === 'ended' && result.state === 'done') {
      this.#said.push(...(result.text.match(/\[a\d+\]/gu) ?? []))
    }
    return result
  }

  #settleSteers(): void {
    this.#said.push(...this.#steered)
    this.#steered.length = 0
  }

  #plan(): { readonly at: number; readonly act: Act } {
    const random = this.#random
    if (random.chance(0.65)) return { at: 0, act: 'cancel' }
    return { at: random.between(1, 90), act: random.pick(['cancel', 'cancel', 'suspend', 'steer', 'close']) }
  }

  async #act(act: Act, turn: ConversationTurn, run: Run): Promise<void> {
    this.#count(act)
    switch (act) {
      case 'cancel':
        await turn.cancel('enough')
        break
      case 'suspend':
        await run.suspend()
        break
      case 'steer': {
        const mark = `[m${this.#messages}]`
        this.#messages += 1
        const { answer } = await run.steer(`${mark} And quickly.`)
        if (answer !== 'refused') this.#steered.push(mark)
        break
      }
      case 'close':
        // Not awaited here: it waits for the run that is read here.
        void this.#talk.close()
        this.#isClosed = true
        break
    }
  }

  async #answer(run: Run, frame: Frame): Promise<void> {
    const random = this.#random
    if (frame.type === 'approval_requested') {
      if (random.chance(0.1)) await run.suspend()
      else if (random.chance(0.4)) await run.deny(frame.path, 'not now')
      else await run.approve(frame.path)
    }
    if (frame.type === 'state_entered' && frame.state.endsWith('reconciling')) {
      const [, callId = ''] = /call (\S+) of/u.exec(run.explain().waitsFor.join()) ?? []
      if (callId === '') return
      this.#count('reconciled')
      await run.reconcile(callId, random.pick(['done', 'failed', 'rerun']), 'looked at by a person')
    }
  }

  #count(what: string): void {
    this.#happened[what] = (this.#happened[what] ?? 0) + 1
  }
}

interface SentMessage {
  readonly mark: string
  /** How many responses there were before. */
  readonly from: number
  /** The marks of all that was said before. */
  readonly said: readonly string[]
  readonly turn: ConversationTurn
}

type Act = 'cancel' | 'suspend' | 'steer' | 'close'
