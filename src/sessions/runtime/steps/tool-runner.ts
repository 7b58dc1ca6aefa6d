import { Readable } from 'node:stream'
import type { Actor } from '../../../identity/actor.ts'
import type { Tool, ToolContext } from '../../../tool.ts'
import { runTool } from '../../tools/tools.ts'
import type { AskingOutcome, Toolbox, ToolOutcome } from '../../tools/tools.ts'
import type { ClaimedTurn } from '../../turns/claim-queries.ts'
import type { KeptPictures } from '../prompt/kept-pictures.ts'
import type { TurnCall, TurnState } from '../turn-state.ts'

/** Runs the tools of one turn. */
export interface ToolRunner {
  /** Validates the arguments of a call. Returns an error for the model; undefined when they are valid. */
  inputError(tool: Tool, input: unknown): string | undefined
  /** Rejects only when the turn ends in the meantime. A tool that fails resolves to a failed outcome. */
  run(
    tool: Tool,
    call: TurnCall,
    options: { actor: Actor; leftMs: number; signal: AbortSignal },
  ): Promise<ToolOutcome | AskingOutcome>
}

/** The only dependencies of the server that tools can use. */
export type ToolRunnerDeps = Pick<
  ToolContext,
  'db' | 'log' | 'objects' | 'quotas' | 'previewer' | 'jobs' | 'config'
> & {
  toolbox: Toolbox
  keptPictures: KeptPictures
}

export const createToolRunner = (
  { toolbox, db, log, objects, quotas, previewer, jobs, config, keptPictures }: ToolRunnerDeps,
  turn: ClaimedTurn,
  state: TurnState,
): ToolRunner => ({
  inputError: (tool, input) => toolbox.inputError(tool, input),
  run: async (tool, call, { actor, leftMs, signal }) => {
    const noteUntrusted = (): void => state.noteUntrusted(call.toolName)
    const { untrustedFrom } = state
    const answers = call.question?.answers ?? []
    const { orgId, userId } = actor
    const keepPicture = async (bytes: Buffer): Promise<string> => {
      const open = async (): Promise<Readable> => Readable.from([bytes])
      const input = { mimeType: 'image/*', name: 'picture', sizeBytes: bytes.length, orgId, userId, open }
      const picture = await previewer.picture(input, signal)
      return keptPictures.keep({ orgId, turnId: turn.id }, picture)
    }
    const outcome = await runTool(
      tool,
      {
        db,
        log,
        objects,
        quotas,
        previewer,
        jobs,
        config,
        actor,
        signal,
        projectId: turn.projectId,
        callKey: `${turn.id}:${call.step}:${call.place}`,
        turn: { id: turn.id, sessionId: turn.sessionId, leftMs, untrustedFrom, answers, noteUntrusted, keepPicture },
      },
      call.input,
    )
    // The error text comes from the provider too.
    if (tool.readsUntrusted) noteUntrusted()
    return outcome
  },
})
