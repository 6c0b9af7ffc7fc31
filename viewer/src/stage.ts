// Where things are drawn: renderer, cameras, light and ground. Draws only when something changed.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

/** Direction from the scene to the camera, and tangent of half the vertical angle of view: those of `splashdown render`. */
const FROM = new THREE.Vector3(0.45, 0.4, 1).normalize();
const TANGENT = 0.3;
const SUN = new THREE.Vector3(0.45, 0.78, 0.43).normalize();

/** While the view moves and pictures take longer than this (ms), they are drawn coarser; at rest always fully. */
const SLOW = 60;

/** Does the browser draw without a graphics card? Then prettiness costs too much. */
function isSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export interface Theme {
  sky: number;
  ground: number;
  paper: number;
}

export const THEMES: Record<"dark" | "light", Theme> = {
  dark: { sky: 0x1b2430, ground: 0x5d6873, paper: 0xf4f4f6 },
  light: { sky: 0xd6e0ea, ground: 0xd0d2d2, paper: 0xf4f4f6 },
};

export class Stage {
  readonly scene = new THREE.Scene();
  readonly content = new THREE.Group();
  readonly canvas: HTMLCanvasElement;
  private readonly renderer: THREE.WebGLRenderer;
  private camera: THREE.PerspectiveCamera | THREE.OrthographicCamera;
  private controls: OrbitControls;
  private readonly sun = new THREE.DirectionalLight(0xfff8e6, 0.95 * Math.PI);
  private readonly ground: THREE.Mesh<THREE.PlaneGeometry, THREE.MeshLambertMaterial>;
  private readonly groundUniforms = { spacing: { value: 1 }, centre: { value: new THREE.Vector3() }, radius: { value: 1 } };
  private readonly marker: THREE.LineSegments;
  private depthTarget: THREE.WebGLRenderTarget | null = null;
  private readonly noDepth = new THREE.DataTexture(new Uint8Array([255, 255, 255, 255]), 1, 1);
  private flat = false;
  private bounds = new THREE.Box3(new THREE.Vector3(-0.5, -0.5, -0.5), new THREE.Vector3(0.5, 0.5, 0.5));
  private pending = false;
  private lastDrawn = 0;
  private intervals: number[] = [];
  private coarse = false;
  private interacting = false;
  private readonly software = isSoftware();
  private settle = 0;
  /** Heard when the user moved the camera. */
  onMove: () => void = () => {};
  /** Pictures take long, or no longer. */
  onCoarse: (coarse: boolean) => void = () => {};

  constructor(private readonly container: HTMLElement) {
    this.renderer = new THREE.WebGLRenderer({ antialias: !this.software, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = this.software ? THREE.BasicShadowMap : THREE.PCFShadowMap;
    // Shadows change with the frame, not with the camera.
    this.renderer.shadowMap.autoUpdate = false;
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "The simulation; drag to turn, wheel to zoom, click to pick");
    container.append(this.canvas);

    this.scene.add(this.content);
    this.scene.add(new THREE.HemisphereLight(0xccdfff, 0x8c8073, 0.62 * Math.PI));
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.scene.add(this.sun, this.sun.target);

    const material = new THREE.MeshLambertMaterial({ transparent: true, polygonOffset: true, polygonOffsetFactor: -0.5, polygonOffsetUnits: -4 });
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.groundUniforms);
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", "#include <common>\nvarying vec3 vPlace;")
        .replace("#include <begin_vertex>", "#include <begin_vertex>\nvPlace = (modelMatrix * vec4(position, 1.0)).xyz;");
      shader.fragmentShader = shader.fragmentShader
        .replace("#include <common>", "#include <common>\nvarying vec3 vPlace;\nuniform float spacing;\nuniform vec3 centre;\nuniform float radius;")
        .replace(
          "#include <color_fragment>",
          `#include <color_fragment>
          vec2 g = vPlace.xz / spacing;
          vec2 off = abs(g - round(g)) / max(fwidth(g), vec2(0.008));
          float line = max(1.0 - min(off.x, off.y), 0.0) / (1.0 + 6.0 * max(fwidth(g).x, fwidth(g).y));
          diffuseColor.rgb *= 1.0 - 0.3 * line;
          diffuseColor.a *= 1.0 - smoothstep(1.5, 6.0, distance(vPlace, centre) / radius);`,
        );
    };
    this.ground = new THREE.Mesh(new THREE.PlaneGeometry(1, 1).rotateX(-Math.PI / 2), material);
    this.ground.receiveShadow = true;
    this.ground.renderOrder = -10;
    this.ground.raycast = () => {};
    this.scene.add(this.ground);

    this.marker = new THREE.LineSegments(
      new THREE.EdgesGeometry(new THREE.BoxGeometry(2, 2, 2)),
      new THREE.LineBasicMaterial({ color: 0x35b5ff, depthTest: false, transparent: true }),
    );
    this.marker.renderOrder = 20;
    this.marker.visible = false;
    this.marker.raycast = () => {};
    this.scene.add(this.marker);

    this.camera = new THREE.PerspectiveCamera();
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.setFlat(false, true);
    new ResizeObserver(() => this.resize()).observe(container);
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.renderer.shadowMap.needsUpdate = true;
      this.invalidate();
    });
    this.resize();
  }

  get isInteracting(): boolean {
    return this.interacting;
  }

  /** Most samples along a ray through a cloud. */
  get samples(): number {
    if (this.software) return this.coarse ? 24 : 64;
    return this.coarse ? 64 : 160;
  }

  setTheme(theme: Theme): void {
    this.scene.background = new THREE.Color(this.flat ? theme.paper : theme.sky);
    this.ground.material.color.set(theme.ground);
    this.invalidate();
  }

  /** A parallel view of the plane, or a perspective one of space. */
  setFlat(flat: boolean, first = false): void {
    if (flat === this.flat && !first) return;
    this.flat = flat;
    this.camera = flat ? new THREE.OrthographicCamera() : new THREE.PerspectiveCamera((2 * Math.atan(TANGENT) * 180) / Math.PI);
    this.makeControls();
    this.resize();
  }

  private makeControls(): void {
    const target = this.controls.target.clone();
    this.controls.dispose();
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.target.copy(target);
    this.controls.zoomToCursor = true;
    this.controls.enableRotate = !this.flat;
    this.controls.screenSpacePanning = true;
    if (this.flat) {
      this.controls.mouseButtons.LEFT = THREE.MOUSE.PAN;
      this.controls.touches.ONE = THREE.TOUCH.PAN;
    }
    this.controls.addEventListener("start", () => (this.interacting = true));
    this.controls.addEventListener("end", () => {
      this.interacting = false;
      this.invalidate();
    });
    this.controls.addEventListener("change", () => {
      this.invalidate();
      this.onMove();
    });
  }

  setBounds(box: THREE.Box3): void {
    this.bounds = box;
    const size = this.radius;
    const centre = box.getCenter(new THREE.Vector3());
    this.groundUniforms.centre.value.copy(centre);
    this.groundUniforms.radius.value = size;
    let spacing = 1e-12;
    for (let k = 0; spacing < size / 5; k++) spacing *= [2, 2.5, 2][k % 3];
    this.groundUniforms.spacing.value = spacing;
    this.ground.position.set(centre.x, box.min.y - 1e-4 * size, centre.z);
    this.ground.scale.set(14 * size, 1, 14 * size);
    this.sun.position.copy(centre).addScaledVector(SUN, 3 * size);
    this.sun.target.position.copy(centre);
    const shadow = this.sun.shadow.camera;
    shadow.left = shadow.bottom = -1.5 * size;
    shadow.right = shadow.top = 1.5 * size;
    shadow.near = 0.5 * size;
    shadow.far = 6 * size;
    shadow.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * size;
    this.sun.shadow.bias = -0.0006;
    this.renderer.shadowMap.needsUpdate = true;
    this.clip();
  }

  get radius(): number {
    return Math.max(0.5 * this.bounds.getSize(new THREE.Vector3()).length(), 1e-9);
  }

  /** What a scene of radius `size` can be looked at from: near and far ends. */
  private clip(): void {
    const size = this.radius;
    const away = this.camera.position.distanceTo(this.controls.target);
    if (this.camera instanceof THREE.PerspectiveCamera) {
      this.camera.near = Math.max(0.002 * away, 1e-4 * size);
      this.camera.far = away + 20 * size;
    } else {
      this.camera.near = -100 * size;
      this.camera.far = 100 * size;
    }
    this.camera.updateProjectionMatrix();
  }

  setGround(shown: boolean, shadows: boolean): void {
    this.ground.visible = shown && !this.flat;
    this.sun.castShadow = shadows && !this.flat;
    this.renderer.shadowMap.needsUpdate = true;
    this.invalidate();
  }

  private from = FROM;
  private near = 1;

  /** The side from which [`fit`] looks, and how near: as the scene file says. */
  setSide(from: [number, number, number], up: [number, number, number], zoom: number): void {
    const [back, top] = [new THREE.Vector3(...from), new THREE.Vector3(...up)];
    if (back.lengthSq() > 0) this.from = back.normalize();
    if (!this.flat && top.lengthSq() > 0) {
      // The controls turn about what was up when they were made.
      this.camera.up.copy(top.normalize());
      this.makeControls();
    }
    if (zoom > 0) this.near = zoom;
  }

  /** Everything in the picture, from the usual side; or nearer to one thing. */
  fit(around?: THREE.Sphere): void {
    const centre = around ? around.center.clone() : this.bounds.getCenter(new THREE.Vector3());
    const aspect = this.aspect;
    if (this.camera instanceof THREE.OrthographicCamera) {
      const size = this.bounds.getSize(new THREE.Vector3());
      const half = around ? 4 * around.radius : Math.max(0.5 * size.y, (0.5 * size.x) / aspect, 1e-9) * (1.08 / this.near);
      this.camera.position.set(centre.x, centre.y, centre.z + 10 * this.radius);
      this.controls.target.copy(centre);
      this.camera.zoom = 1;
      this.halfHeight = half;
    } else {
      const back = around ? this.camera.position.clone().sub(this.controls.target).normalize() : this.from;
      const right = this.camera.up.clone().cross(back);
      if (right.lengthSq() < 1e-12) right.set(1, 0, 0);
      right.normalize();
      const up = back.clone().cross(right);
      let distance = 1e-9;
      if (around) distance = (4 * around.radius) / TANGENT;
      else {
        const { min, max } = this.bounds;
        const corner = new THREE.Vector3();
        for (let i = 0; i < 8; i++) {
          corner.set(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z).sub(centre);
          const [x, y] = [Math.abs(corner.dot(right)) / (TANGENT * aspect), Math.abs(corner.dot(up)) / TANGENT];
          distance = Math.max(distance, corner.dot(back) + Math.max(x, y));
        }
        distance *= 1.06 / this.near;
      }
      this.camera.position.copy(centre).addScaledVector(back, distance);
      this.controls.target.copy(centre);
    }
    this.clip();
    this.applyAspect();
    this.controls.update();
    this.invalidate();
  }

  private halfHeight = 1;

  private get aspect(): number {
    return Math.max(this.container.clientWidth, 1) / Math.max(this.container.clientHeight, 1);
  }

  private applyAspect(): void {
    if (this.camera instanceof THREE.OrthographicCamera) {
      this.camera.top = this.halfHeight;
      this.camera.bottom = -this.halfHeight;
      this.camera.left = -this.halfHeight * this.aspect;
      this.camera.right = this.halfHeight * this.aspect;
    } else this.camera.aspect = this.aspect;
    this.camera.updateProjectionMatrix();
  }

  /** Eye and target, for parallel views also the half height. */
  getCamera(): number[] {
    const numbers = [...this.camera.position.toArray(), ...this.controls.target.toArray()];
    return this.camera instanceof THREE.OrthographicCamera ? [...numbers, this.halfHeight / this.camera.zoom] : numbers;
  }

  setCamera(numbers: number[]): void {
    this.camera.position.fromArray(numbers, 0);
    this.controls.target.fromArray(numbers, 3);
    if (this.camera instanceof THREE.OrthographicCamera && numbers[6] > 0) {
      this.halfHeight = numbers[6];
      this.camera.zoom = 1;
    }
    this.clip();
    this.applyAspect();
    this.controls.update();
    this.invalidate();
  }

  mark(place: { centre: THREE.Vector3; radius: number } | null): void {
    this.marker.visible = place !== null;
    if (place) {
      this.marker.position.copy(place.centre);
      this.marker.scale.setScalar(1.05 * place.radius);
      if (this.flat) this.marker.scale.z = 1e-6;
    }
    this.invalidate();
  }

  /** What is under a point of the window, nearest first. */
  hit(x: number, y: number): THREE.Intersection[] {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (x - box.left)) / box.width - 1, 1 - (2 * (y - box.top)) / box.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.camera);
    ray.params.Points.threshold = 0.01 * this.radius;
    ray.params.Line.threshold = 0.005 * this.radius;
    return ray.intersectObject(this.content, true);
  }

  depths(): THREE.Texture {
    return this.depthTarget?.depthTexture ?? this.noDepth;
  }

  private resize(): void {
    const [width, height] = [this.container.clientWidth, this.container.clientHeight];
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(this.coarse ? (this.software ? 0.35 : 0.5) : Math.min(window.devicePixelRatio, this.software ? 1 : 2));
    this.renderer.setSize(width, height);
    this.applyAspect();
    this.invalidate();
  }

  /** Draws at the next opportunity. */
  invalidate(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame((now) => {
      this.pending = false;
      this.pace(now);
      this.draw();
    });
  }

  /** Pictures that follow each other closely tell how fast the machine is. */
  private pace(now: number): void {
    const interval = now - this.lastDrawn;
    this.lastDrawn = now;
    if (interval < 1000 || (this.interacting && interval < 20000)) {
      this.intervals.push(interval);
      if (this.intervals.length > 8) this.intervals.shift();
      const mean = this.intervals.reduce((a, b) => a + b, 0) / this.intervals.length;
      this.canvas.dataset.fps = (1000 / mean).toFixed(1);
      // One picture that takes long says enough.
      if ((this.intervals.length >= 6 ? mean : this.interacting ? interval - 200 : 0) > SLOW && !this.coarse) this.setCoarse(true);
    } else this.intervals = [];
    window.clearTimeout(this.settle);
    this.settle = window.setTimeout(() => {
      if (this.interacting) return;
      this.intervals = [];
      if (this.coarse) this.setCoarse(false);
    }, 350);
  }

  private setCoarse(coarse: boolean): void {
    this.coarse = coarse;
    this.onCoarse(coarse);
    this.resize();
  }

  draw(): void {
    const volumes: THREE.Object3D[] = [];
    this.content.traverseVisible((object) => {
      if (object.userData.volume) volumes.push(object);
    });
    if (volumes.length > 0) {
      // Clouds end at what is inside them, so its depth is drawn first.
      const size = this.renderer.getDrawingBufferSize(new THREE.Vector2());
      if (!this.depthTarget) {
        this.depthTarget = new THREE.WebGLRenderTarget(size.x, size.y);
        this.depthTarget.depthTexture = new THREE.DepthTexture(size.x, size.y);
      }
      this.depthTarget.setSize(size.x, size.y);
      const ground = this.ground.visible;
      volumes.forEach((object) => (object.visible = false));
      this.renderer.setRenderTarget(this.depthTarget);
      this.renderer.render(this.scene, this.camera);
      this.renderer.setRenderTarget(null);
      volumes.forEach((object) => (object.visible = true));
      this.ground.visible = ground;
    }
    this.renderer.render(this.scene, this.camera);
  }

  async picture(): Promise<Blob> {
    this.draw();
    return new Promise((done, failed) =>
      this.canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the picture could not be made"))), "image/png"),
    );
  }
}
