import type { Artifact, ArtifactId } from '../runs/events.ts';

/** Rollouts and per-row arrays are kept for this many artifacts; then the oldest go. */
const CAPACITY = 4000;

/** The run's larger data, by id, oldest dropped first. */
export class ArtifactStore {
  private readonly byId = new Map<ArtifactId, Artifact>();

  /** Stores `artifact` under a new id made of its kind and the micro-step's coordinates. */
  put(artifact: Artifact, ...coordinates: readonly number[]): ArtifactId {
    const id = [artifact.kind, ...coordinates].join('/');
    this.byId.set(id, artifact);
    if (this.byId.size > CAPACITY) {
      const oldest = this.byId.keys().next().value;
      if (oldest !== undefined) this.byId.delete(oldest);
    }
    return id;
  }

  get(id: ArtifactId): Artifact | undefined {
    return this.byId.get(id);
  }
}
